// The kernels of a functor for each instruction set, and the best set that this machine has.

#include <algorithm>

#include "attn/core/error.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/target.hpp"
#include "kernels/cpu/isa_table.hpp"

namespace attn::cpu {

const StageTable& stage_table(Target target) {
  return isa_table<StageTable>(target);
}

bool available(Target target) {
  if (std::ranges::find(kBuiltTargets, target) == kBuiltTargets.end()) return false;
#if defined(__x86_64__)
  __builtin_cpu_init();
  switch (target) {
    case Target::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case Target::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("aes");
    case Target::sse4:
      return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes");
    default:
      return false;
  }
#else
  return true;
#endif
}

Target best_target() {
  static const auto* const kBest = std::ranges::find_if(kBuiltTargets, available);
  if (kBest == kBuiltTargets.end())
    fail<Unsupported>(
        "attn::cpu: this machine has none of the instruction sets the kernels "
        "were built for: avx512, avx2, sse4 on x86-64, neon on aarch64");
  return *kBest;
}

}  // namespace attn::cpu
