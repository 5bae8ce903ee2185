/// A product of floats on the pool, with the kernels of one instruction set.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/gemm/gemm.hpp"
#include "attn/kernels/target.hpp"

namespace attn::gemm {

/// m, n, k and batch are positive, and the target is available.
void product_on(Target target, const Args<float>& args, const float* bias, int threads);

}  // namespace attn::gemm
