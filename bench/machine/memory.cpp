// SPDX-License-Identifier: Apache-2.0

#include "machine/memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <ios>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>

namespace attn::bench {
namespace {

/// A line of /proc/self/status, in bytes; -1 where there is none.
std::int64_t status(std::string_view field) {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word) {
    if (word == field) {
      std::int64_t kib = -1;
      file >> kib;
      return kib < 0 ? -1 : kib * 1024;
    }
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return -1;
}

bool reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

}  // namespace

std::int64_t peak_beyond(const std::function<void()>& job) {
  malloc_trim(0);
  const bool reset = reset_peak();
  const std::int64_t before = status("VmRSS:");
  job();
  const std::int64_t peak = status("VmHWM:");
  if (!reset || before < 0 || peak < 0) return -1;
  return std::max(peak - before, std::int64_t{0});
}

}  // namespace attn::bench
