// The functor's tile kernels; a second call of attn_kernel_sources adds them to the first.

#include "attn/kernels/cpu/compile.hpp"
#include "twice.hpp"

template struct attn::cpu::ScoreKernels<app::Twice, attn::cpu::kTarget>;
