/// Runs a problem of the kernels' tests on the GPU, in its own element type and layouts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "attn/core/dtype.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"

namespace attn::test {

/// Forward and backward; outputs start as NaN and come back packed and in double.
Results run_gpu(const Problem& problem, gpu::Determinism determinism = gpu::Determinism::fast);
/// The same on the kernels for whole rows; in double, tables too, if `dtype` is f64.
Results run_gpu_rows(const Problem& problem, DType dtype);

/// What is wrong with `got`; empty if it agrees within what the GPU's arithmetic costs in the
/// problem's type, or in `dtype`.
std::string gpu_difference(const Problem& problem, const Results& got, const Results& want);
std::string gpu_difference(const Problem& problem, const Results& got, const Results& want,
                           DType dtype);

}  // namespace attn::test
