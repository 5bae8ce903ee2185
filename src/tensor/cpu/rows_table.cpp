#include "tensor/cpu/rows_table.hpp"

#include "attn/kernels/target.hpp"

namespace attn::cpu {
namespace {

const RowTable<float>& choose() {
#if defined(__aarch64__)
  return neon::row_kernels();
#else
  const Target target = best_target();
  if (target == Target::avx512) return avx512::row_kernels();
  if (target == Target::avx2) return avx2::row_kernels();
  return sse4::row_kernels();
#endif
}

}  // namespace

template <>
const RowTable<float>& row_table<float>() {
  static const RowTable<float>& chosen = choose();
  return chosen;
}

}  // namespace attn::cpu
