/// The GPU's attention kernels for tensors, as attn/kernels/route.hpp chooses them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/route.hpp"
#include "tensor/attend/kernels.hpp"

namespace attn::gpu {

void attend_forward(const op::AttendTensors& x, const Recipe& recipe, Route route);
/// What is looked at goes by rows, as attn/kernels/gpu/rows.hpp says.
void attend_inspect(const op::AttendTensors& x, const Recipe& recipe,
                    const op::InspectInto& to);
void attend_backward(const op::AttendTensors& x, const Recipe& recipe,
                     const op::AttendGrads& grads, const RecipeGrads& tables);

}  // namespace attn::gpu
