#include "gemm/cpu/product_table.hpp"

#include "attn/kernels/target.hpp"
#include "gemm/cpu/unfold_table.hpp"

namespace attn::cpu {

// Each instruction set's objects define their own.
// clang-format off
namespace sse4 { const ProductTable& products(); const UnfoldTable& unfolding(); }
namespace avx2 { const ProductTable& products(); const UnfoldTable& unfolding(); }
namespace avx512 { const ProductTable& products(); const UnfoldTable& unfolding(); }
namespace neon { const ProductTable& products(); const UnfoldTable& unfolding(); }
// clang-format on

const ProductTable& product_table(Target target) {
#if defined(__aarch64__)
  static_cast<void>(target);
  return neon::products();
#else
  if (target == Target::avx512) return avx512::products();
  if (target == Target::avx2) return avx2::products();
  return sse4::products();
#endif
}

const UnfoldTable& unfold_table(Target target) {
#if defined(__aarch64__)
  static_cast<void>(target);
  return neon::unfolding();
#else
  if (target == Target::avx512) return avx512::unfolding();
  if (target == Target::avx2) return avx2::unfolding();
  return sse4::unfolding();
#endif
}

}  // namespace attn::cpu
