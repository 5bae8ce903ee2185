/// Gradients of a recipe's tables are set to zero before anything is added to them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"

namespace attn {

/// Writes zeros to every table that `grads` points to.
void clear(const RecipeGrads& grads);

}  // namespace attn
