// Compiled once for each instruction set by attn_kernel_sources().
// SPDX-License-Identifier: Apache-2.0
#include "attn/kernels/cpu/compile.hpp"
#include "braid.hpp"

template struct attn::cpu::MaskKernels<Braid, attn::cpu::kTarget>;
