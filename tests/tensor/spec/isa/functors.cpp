// Compiled once for each instruction set, as a user's kernels are.
#include "tensor/spec/functors.hpp"

#include "attn/kernels/cpu/compile.hpp"

template struct attn::cpu::ScoreKernels<attn::test::Fade, attn::cpu::kTarget>;
template struct attn::cpu::MaskKernels<attn::test::Even, attn::cpu::kTarget>;
template struct attn::cpu::WeightKernels<attn::test::GatedSquare, attn::cpu::kTarget>;
