// Compiled once for each instruction set by attn_kernel_sources().

#include "attn/kernels/cpu/compile.hpp"
#include "own_score.hpp"

template struct attn::cpu::ScoreKernels<mine::Fade, attn::cpu::kTarget>;
