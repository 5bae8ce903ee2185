/// The GPU's attention kernels for tensors: what they serve runs, all else throws Unsupported.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "tensor/attend_kernels.hpp"

namespace attn::gpu {

void attend_forward(const op::AttendInputs& in, const Recipe& recipe,
                    const op::AttendOutputs& to);
void attend_backward(const op::AttendInputs& in, const Recipe& recipe,
                     const op::AttendGrads& grads, const RecipeGrads& tables);

}  // namespace attn::gpu
