#include "tools/attn/subwords.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/child.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/tokeniser.hpp"
#include "tools/attn/model_folder.hpp"

namespace attn::tools {

namespace {

constexpr std::uint64_t kLargestVocabulary = std::uint64_t{64} << 20;

/// The same lines give the same subwords: those of an earlier run are kept in the cache.
std::filesystem::path place_of(const std::string& text, std::int64_t size) {
  const std::string sum = text::sha256_hex(std::as_bytes(std::span(text)));
  return tasks::cache_folder() / "vocabularies" /
         (sum.substr(0, 16) + "-" + std::to_string(size));
}

/// A cache that cannot be used is no reason not to train.
std::optional<std::string> kept(const std::string& text, std::int64_t size) {
  try {
    return tasks::read_sealed(place_of(text, size));
  } catch (const FileError&) {
    return std::nullopt;
  }
}

void keep(const std::string& text, std::int64_t size, const std::string& vocabulary) {
  try {
    tasks::write_sealed(place_of(text, size), vocabulary);
  } catch (const FileError&) {
    return;
  }
}

/// One line a text, whatever it holds.
std::string joined(std::span<const std::string> lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line;
    std::replace(text.end() - static_cast<std::ptrdiff_t>(line.size()), text.end(), '\n', ' ');
    text += '\n';
  }
  return text;
}

}  // namespace

text::Tokeniser learn_subwords(std::span<const std::string> lines, std::int64_t size) {
  const std::string text = joined(lines);
  const tasks::ScratchFolder scratch(tasks::temporary_folder());
  const std::filesystem::path output = scratch.path() / "subwords.vocab";
  if (const auto before = kept(text, size)) {
    files::atomic_write(output, *before);
    return text::Tokeniser::read(output);
  }
  const std::filesystem::path program = program_beside("attn-vocabulary");
  if (program.empty())
    fail<Unsupported>(
        "attn-vocabulary was not built, so subwords cannot be trained: it needs SentencePiece "
        "(on Debian libsentencepiece-dev). Characters and words need nothing: "
        "--source-units characters --target-units words");
  const std::filesystem::path input = scratch.path() / "lines.txt";
  files::atomic_write(input, text);
  const std::filesystem::path log = scratch.path() / "log";
  if (tasks::run_program({program.string(), "--size", std::to_string(size), "--byte-fallback",
                          "--out", output.string(), input.string()},
                         log) != tasks::Ended::well)
    fail<Error>("attn-vocabulary could not train ", size, " subwords:\n",
                tasks::complaint(log));
  keep(text, size, files::read_text(output, kLargestVocabulary));
  return text::Tokeniser::read(output);
}

}  // namespace attn::tools
