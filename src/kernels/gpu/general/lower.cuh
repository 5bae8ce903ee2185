/// From a recipe, whose functors have lost their types, to the functors of the GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/recipe.hpp"
#include "kernels/gpu/general/general.cuh"

namespace attn::gpu {

/// A recipe as the general kernel takes it, and the gradients that are wanted of its tables.
struct Lowered {
  GeneralStages stages;
  StagesGrads<GeneralStages> grads;
};

/// Throws Unsupported for what the GPU's kernels lack, naming it.
Lowered lower(const char* where, const Recipe& recipe, const RecipeGrads& grads = {});

/// Writes zeros to all gradients that are wanted.
void clear_tables(const RecipeGrads& grads, Stream stream);

/// The recipe as validate() may see it: it asks each modifier which entries of its tables it
/// reads, and some would look into the GPU's memory.
Recipe checkable(const Recipe& recipe);

}  // namespace attn::gpu
