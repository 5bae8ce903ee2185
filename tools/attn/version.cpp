#include "tools/attn/version.hpp"

#include <fmt/core.h>

#include <string>

namespace attn::tools {

extern const char* const kCommit;  // written by cmake/AttnCommit.cmake, in a file of its own

std::string commit() {
  return kCommit;
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "an unknown compiler";
#endif
}

std::string version_text() {
  return fmt::format("attn {} (commit {}, {}, {} CUDA)", ATTN_VERSION, commit(), compiler(),
                     ATTN_HAS_CUDA ? "with" : "without");
}

}  // namespace attn::tools
