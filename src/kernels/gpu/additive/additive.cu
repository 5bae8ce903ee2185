// Additive attention for recipes chosen at run time: the common ones have kernels of their own.

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/core/error.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/functor/additive.cuh"
#include "attn/kernels/route.hpp"
#include "kernels/common_recipes.hpp"
#include "kernels/gpu/general/general.cuh"
#include "kernels/gpu/general/lower.cuh"
#include "kernels/gpu/tiles/instances.cuh"

namespace attn::gpu {
namespace {

/// run(stages) for the functors of the recipe.
template <class Run>
void with_stages(const char* where, const Recipe& recipe, const Run& run) {
  if (recipe.similarity != Similarity::additive)
    fail(where, ": the recipe has another similarity; expected the additive one");
  // The rest of the recipe is lowered as that of a dot product.
  Recipe rest = recipe;
  rest.similarity = Similarity::dot;
  rest.scale = 1.0f;
  rest.weights = {};
  const Lowered lowered = lower(where, rest);
  if (!lowered.stages.normaliser.chosen.holds<normalise::Softmax>())
    fail<Unsupported>(where, ": softmax is built; the recipe has another normaliser");
  if (lowered.stages.factor.count != 0)
    fail<Unsupported>(where, ": weight modifiers are not built");
  note_route(Route::gpu_additive);
  if (run_common(lowered, AdditiveRecipes{}, find(recipe, AdditiveRecipes{}),
                 [&](const auto& stages, const auto&) { run(stages); }))
    return;
  run(without_factors<normalise::Softmax>(lowered));
}

}  // namespace

std::size_t additive_workspace_size(const ForwardArgs<float>& args) {
  return additive_workspace_bytes(args);
}

void additive_forward(const ForwardArgs<float>& args, const Recipe& recipe, void* workspace,
                      Stream stream) {
  check_additive("attn::gpu::additive_forward", args);
  validate(args, checkable(recipe));
  with_stages("attn::gpu::additive_forward", recipe, [&](const auto& stages) {
    additive_forward(args, recipe.weights, stages, workspace, stream);
  });
}

void additive_backward(const BackwardArgs<float>& args, const Recipe& recipe,
                       const RecipeGrads& grads, Stream stream) {
  constexpr const char* kWhere = "attn::gpu::additive_backward";
  check_additive(kWhere, args);
  validate(args, checkable(recipe), grads);
  if (grads.wants_scores())
    fail<Unsupported>(kWhere, ": gradients of the modifiers' tables are not built");
  with_stages(kWhere, recipe, [&](const auto& stages) {
    additive_backward(args, recipe.weights, stages, grads.weights, stream);
  });
}

}  // namespace attn::gpu
