// Compiled once for each instruction set by attn_kernel_sources().
// SPDX-License-Identifier: Apache-2.0
#include "attn/kernels/cpu/compile.hpp"
#include "echo.hpp"

template struct attn::cpu::ScoreKernels<Echo, attn::cpu::kTarget>;
