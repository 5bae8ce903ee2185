/// The GPU's attention kernels for tensors: fused where they serve a recipe, by rows elsewhere.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "tensor/attend_kernels.hpp"

namespace attn::gpu {

void attend_forward(const op::AttendInputs& in, const Recipe& recipe,
                    const op::AttendOutputs& to);
/// What is looked at goes by rows, as attn/kernels/gpu/rows.hpp says.
void attend_inspect(const op::AttendInputs& in, const Recipe& recipe,
                    const op::InspectInto& to);
void attend_backward(const op::AttendInputs& in, const Recipe& recipe,
                     const op::AttendGrads& grads, const RecipeGrads& tables);

}  // namespace attn::gpu
