// The kernels of a functor for each instruction set, and the best set that this machine has.

#include <array>
#include <cstddef>

#include "attn/core/error.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/stage.hpp"
#include "attn/kernels/target.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/stage_table.hpp"

namespace attn::cpu {
namespace {

/// One pointer for each built target, from a list of its table.
template <class Ops, std::size_t kCount>
std::array<const Ops*, kTargets> from_tables(const Ops* const (StageTable::*list)[kCount],
                                             int kind) {
  std::array<const Ops*, kTargets> ops{};
  for (const Target target : kBuiltTargets)
    ops[static_cast<std::size_t>(target)] = (isa_table<StageTable>(target).*list)[kind];
  return ops;
}

}  // namespace

std::array<const PointwiseOps*, kTargets> score_kernels(int kind) {
  return from_tables(&StageTable::scores, kind);
}
std::array<const PointwiseOps*, kTargets> weight_kernels(int kind) {
  return from_tables(&StageTable::weights, kind);
}
std::array<const MaskOps*, kTargets> mask_kernels(int kind) {
  return from_tables(&StageTable::masks, kind);
}
std::array<const NormaliserOps*, kTargets> normaliser_kernels(int kind) {
  return from_tables(&StageTable::normalisers, kind);
}

bool available(Target target) {
  bool built = false;
  for (const Target candidate : kBuiltTargets) built = built || candidate == target;
  if (!built) return false;
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
  static const int kBest = [] {
    for (const Target target : kBuiltTargets)
      if (available(target)) return static_cast<int>(target);
    return -1;
  }();
  if (kBest < 0)
    fail<Unsupported>(
        "attn::cpu: this machine has none of the instruction sets the kernels "
        "were built for: avx512, avx2, sse4 on x86-64, neon on aarch64");
  return static_cast<Target>(kBest);
}

}  // namespace attn::cpu
