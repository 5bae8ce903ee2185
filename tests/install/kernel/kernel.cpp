// A kernel file of a user's: built once for each instruction set, each in its own namespace.

#include <hwy/highway.h>

#include "names.hpp"

#if OWN_DEFINITION != 7
#  error "the definitions of the target did not reach its kernel sources"
#endif

#if defined(ATTN_TARGET_AVX512)
static_assert(HWY_TARGET == HWY_AVX3);
#elif defined(ATTN_TARGET_AVX2)
static_assert(HWY_TARGET == HWY_AVX2);
#elif defined(ATTN_TARGET_SSE4)
static_assert(HWY_TARGET == HWY_SSE4);
#elif defined(ATTN_TARGET_NEON)
static_assert(HWY_TARGET == HWY_NEON);
#else
#  error "attn_kernel_sources did not name the instruction set"
#endif

namespace app::ATTN_TARGET {

int lanes() {
  return static_cast<int>(
      hwy::HWY_NAMESPACE::MaxLanes(hwy::HWY_NAMESPACE::ScalableTag<float>()));
}

}  // namespace app::ATTN_TARGET
