// SPDX-License-Identifier: Apache-2.0

#include "machine/instruction_sets.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "isa/kernels.hpp"

namespace attn::bench {

#if defined(__x86_64__)
namespace avx512 {
extern const Kernels kKernels;
}
namespace avx2 {
extern const Kernels kKernels;
}
namespace sse4 {
extern const Kernels kKernels;
}

std::vector<const Kernels*> instruction_sets() {
  std::vector<const Kernels*> sets;
  const bool avx2_set =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (avx2_set && __builtin_cpu_supports("avx512f") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512cd") != 0) {
    sets.push_back(&avx512::kKernels);
  }
  if (avx2_set) sets.push_back(&avx2::kKernels);
  if (__builtin_cpu_supports("sse4.2") != 0) sets.push_back(&sse4::kKernels);
  return sets;
}
#else
namespace neon {
extern const Kernels kKernels;
}

std::vector<const Kernels*> instruction_sets() {
  return {&neon::kKernels};
}
#endif

const Kernels& instruction_set(std::string_view name) {
  std::string known;
  for (const Kernels* kernels : instruction_sets()) {
    if (kernels->set == name) return *kernels;
    known += std::string(known.empty() ? "" : ", ") + kernels->set;
  }
  throw std::invalid_argument("instruction set '" + std::string(name) +
                              "' is not here; this machine runs: " + known);
}

}  // namespace attn::bench
