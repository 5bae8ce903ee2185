// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/clips.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/text/sha256.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestList = std::uint64_t{64} << 20;

}  // namespace

Corpus clips_of(const fs::path& list) {
  const std::string text = files::read_text(list, kLargestList);
  Corpus corpus;
  corpus.name = list.filename().string();
  corpus.file = fs::absolute(list).lexically_normal();
  corpus.checksum = text::sha256_hex(std::as_bytes(std::span(text)));
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos || tab == 0)
      fail<FileError>(files::path_text(list), ": line ", number, " is ", files::in_quotes(line),
                      "; accepted: a sound file, a tab, its text");
    const fs::path sound = list.parent_path() / line.substr(0, tab);
    std::error_code ignored;
    if (!fs::exists(sound, ignored))
      fail<FileError>(files::path_text(list), ": line ", number, ": there is no file ",
                      files::path_text(sound));
    const std::size_t second = std::min(line.size(), line.find('\t', tab + 1));
    Example example{
        files::printable(sound.string(), 4096), "", {line.substr(tab + 1, second - tab - 1)}};
    example.parts.emplace("sound", sound_in(sound));
    const std::string part = second < line.size() ? line.substr(second + 1) : "test";
    if (part != "train" && part != "development" && part != "test")
      fail<FileError>(files::path_text(list), ": line ", number, ": part ",
                      files::in_quotes(part), "; train, development and test are accepted");
    (part == "train"         ? corpus.train
     : part == "development" ? corpus.development
                             : corpus.test)
        .push_back(std::move(example));
  }
  if (corpus.test.empty() && corpus.train.empty())
    fail<FileError>(files::path_text(list), ": there is no line in it");
  return corpus;
}

}  // namespace attn::tasks
