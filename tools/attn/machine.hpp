/// What `attn info` knows about the machine.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

namespace attn::tools {

struct CacheLevel {
  std::string name;  ///< "L1d", "L2"
  std::int64_t bytes = 0;
};

struct Machine {
  std::string cpu;  ///< empty where the system does not say
  int processors = 1;
  std::vector<CacheLevel> caches;  ///< of the first processor, smallest first
};

Machine machine();

/// "48 KB", "2 MB".
std::string size_text(std::int64_t bytes);

}  // namespace attn::tools
