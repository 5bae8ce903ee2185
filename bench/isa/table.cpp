// The table of the bench's loops for one instruction set.

// SPDX-License-Identifier: Apache-2.0

#include <hwy/highway.h>

#include "isa/functions.hpp"
#include "isa/kernels.hpp"

#if defined(ATTN_TARGET_AVX512)
static_assert(HWY_STATIC_TARGET == HWY_AVX3, "compile this file with attn_kernel_sources");
#elif defined(ATTN_TARGET_AVX2)
static_assert(HWY_STATIC_TARGET == HWY_AVX2, "compile this file with attn_kernel_sources");
#elif defined(ATTN_TARGET_SSE4)
static_assert(HWY_STATIC_TARGET == HWY_SSE4, "compile this file with attn_kernel_sources");
#endif

#define ATTN_BENCH_TEXT(x) #x
#define ATTN_BENCH_NAME(x) ATTN_BENCH_TEXT(x)

namespace attn::bench::ATTN_TARGET {

extern const Kernels kKernels;
const Kernels kKernels{
    .set = ATTN_BENCH_NAME(ATTN_TARGET),
    .lanes =
        static_cast<int>(hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<float>())),
    .multiply_add = multiply_add,
    .sum = sum,
    .triad = triad,
    .product_workspace = product_workspace,
    .product = product,
    .softmax = softmax,
    .softmax_backward = softmax_backward,
};

}  // namespace attn::bench::ATTN_TARGET
