// attn bench: finds attn-bench beside the program and becomes it.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "attn-bench";

bool runs(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<fs::path> find_bench(const fs::path& program_folder) {
  for (const fs::path& candidate :
       {program_folder / kProgram, program_folder / ".." / "bench" / kProgram})
    if (runs(candidate)) return candidate;
  return std::nullopt;
}

int bench(const std::vector<std::string>& arguments, const Streams& streams) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const auto program = find_bench(error ? fs::path(".") : self.parent_path());
  if (!program) {
    fmt::print(streams.err,
               "attn bench: {} was not built: it is not in {}. Build it from the source tree "
               "with ./attn bench, or with cmake -DATTN_BENCH=ON\n",
               kProgram, error ? "." : self.parent_path().string());
    return failure;
  }
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), kProgram);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::fflush(nullptr);
  ::execv(program->c_str(), pointers.data());
  fmt::print(streams.err, "attn bench: {}: {}\n", program->string(), std::strerror(errno));
  return failure;
}

}  // namespace attn::tools
