/// Facts: which machine and compiler made the numbers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

namespace attn::bench {

struct Facts {
  std::string cpu;    ///< as the kernel calls it, for example "AMD EPYC"
  std::string flags;  ///< what the CPU says it can do
  int family = 0;     ///< x86: family and model name the design where `cpu` does not
  int model = 0;
  int cores = 0;
  double load = 0;  ///< processes that wanted to run over the last minute; -1: unknown
  std::string compiler;
  std::string system;
  std::vector<std::string> sets;  ///< instruction sets, best first
};

Facts facts();

}  // namespace attn::bench
