/// Runs a problem of the kernels' tests on the GPU, in its own element type and layouts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "attn/kernels/gpu/determinism.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"

namespace attn::test {

/// Forward and backward; outputs start as NaN and come back packed and in double.
Results run_gpu(const Problem& problem, gpu::Determinism determinism = gpu::Determinism::fast);

/// What is wrong with `got`; empty if it agrees within what the GPU's arithmetic costs.
std::string gpu_difference(const Problem& problem, const Results& got, const Results& want);

}  // namespace attn::test
