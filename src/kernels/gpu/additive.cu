// Additive attention for recipes chosen at run time: the common ones have kernels of their own.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/gpu/additive.cuh"
#include "attn/kernels/gpu/additive.hpp"
#include "attn/kernels/gpu/general.cuh"
#include "kernels/gpu/instances.cuh"
#include "kernels/gpu/lower.cuh"

namespace attn::gpu {
namespace {

using AdditiveRecipes = Combinations<Combination<score::Chain<>, mask::None>,
                                     Combination<score::Chain<>, mask::Causal>,
                                     Combination<score::Chain<>, mask::Lengths>>;

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
  if (run_common(lowered, AdditiveRecipes{},
                 [&](const auto& stages, const auto&) { run(stages); }))
    return;
  Stages<GeneralScore, GeneralMask, normalise::Softmax> general;
  general.scale = lowered.stages.scale;
  general.score = lowered.stages.score;
  general.mask = lowered.stages.mask;
  std::copy_n(lowered.stages.score_tables.data, GeneralScore::kTables,
              general.score_tables.data);
  run(general);
}

bool is_plain_additive(const Recipe& recipe) {
  return recipe.similarity == Similarity::additive && recipe.factors.empty() &&
         catalogue::is<normalise::Softmax>(recipe.normaliser);
}

template <class Args>
bool has_built_sizes(const Args& args) {
  return std::max(args.q.shape[3], args.v.shape[3]) <= kMaxAdditiveChannels &&
         args.q.shape[0] * args.q.shape[1] <= 65535;
}

bool any_wanted(const std::vector<std::array<TableGrad, kMaxTables>>& stages) {
  for (const auto& stage : stages)
    for (const TableGrad& grad : stage)
      if (grad.data != nullptr) return true;
  return false;
}

}  // namespace

bool additive_serves(const ForwardArgs<float>& args, const Recipe& recipe) {
  return is_plain_additive(recipe) && has_built_sizes(args);
}

bool additive_serves(const BackwardArgs<float>& args, const Recipe& recipe,
                     const RecipeGrads& grads) {
  if (!is_plain_additive(recipe) || !has_built_sizes(args) || args.d_weights.given() ||
      any_wanted(grads.scores))
    return false;
  const auto most =
      static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  return AdditiveBackwardTile<16>::shared_bytes(static_cast<int>(args.q.shape[3]),
                                                static_cast<int>(args.v.shape[3])) +
             kStaticShared <=
         most;
}

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
  for (const auto& stage : grads.scores)
    for (const TableGrad& grad : stage)
      if (grad.data != nullptr)
        fail<Unsupported>(kWhere, ": gradients of the modifiers' tables are not built");
  with_stages(kWhere, recipe, [&](const auto& stages) {
    additive_backward(args, recipe.weights, stages, grads.weights, stream);
  });
}

}  // namespace attn::gpu
