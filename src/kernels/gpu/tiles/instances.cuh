/// From a place in a list of recipes to the functors of its kernel.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/gpu/functor/stages.cuh"
#include "attn/kernels/gpu/limits.hpp"
#include "attn/kernels/route.hpp"
#include "attn/mask/combine.hpp"
#include "kernels/common_recipes.hpp"
#include "kernels/gpu/general/lower.cuh"

namespace attn::gpu {

/// What a call runs on: one of gpu_hopper, gpu_tiles and gpu_general, and the recipe's place in
/// CommonRecipes.
struct Chosen {
  Route route = Route::gpu_general;
  int common = -1;
};

/// Defined in forward_instance.cu and backward_instance.cu, once for each type and head size.
template <class T, int kDim>
void run_forward(const ForwardArgs<T>& args, const Lowered& recipe, const Chosen& chosen,
                 Stream stream);
template <class T, int kDim>
void run_backward(const BackwardArgs<T>& args, const Lowered& recipe, const Chosen& chosen,
                  void* workspace, Stream stream, Determinism determinism);

inline score::Chain<> score_as(const GeneralScore&, Few<>) {
  return {};
}
template <class F>
score::Chain<F> score_as(const GeneralScore& from, Few<F>) {
  score::Chain<F> to{};
  to.first = from.links[0].template get<F>();
  return to;
}

inline mask::None mask_as(const GeneralMask&, Few<>) {
  return {};
}
template <class M>
M mask_as(const GeneralMask& from, Few<M>) {
  return from.nodes[0].leaf.template get<M>();
}
template <class A, class B>
mask::And<A, B> mask_as(const GeneralMask& from, Few<A, B>) {
  const int a = from.nodes[0].leaf.template holds<A>() ? 0 : 1;
  return {from.nodes[a].leaf.template get<A>(), from.nodes[1 - a].leaf.template get<B>()};
}

inline NoFactor factor_as(const GeneralFactor&, Few<>) {
  return {};
}
template <class F>
F factor_as(const GeneralFactor& from, Few<F>) {
  return from.links[0].template get<F>();
}

/// Calls run(stages, grads) with the functors of a combination, which the recipe is.
template <class Scores, class Masks, class Weights, class Run>
void run_as(const Lowered& recipe, Combination<Scores, Masks, Weights>, const Run& run) {
  using S = decltype(score_as(recipe.stages.score, Scores{}));
  using M = decltype(mask_as(recipe.stages.mask, Masks{}));
  using F = decltype(factor_as(recipe.stages.factor, Weights{}));
  using St = Stages<S, M, normalise::Softmax, F>;
  St stages{.scale = recipe.stages.scale,
            .score = score_as(recipe.stages.score, Scores{}),
            .mask = mask_as(recipe.stages.mask, Masks{}),
            .factor = factor_as(recipe.stages.factor, Weights{})};
  StagesGrads<St> grads;
  for (int slot = 0; slot < St::kScoreTables; ++slot) {
    stages.score_tables.data[slot] = recipe.stages.score_tables.data[slot];
    grads.score.data[slot] = recipe.grads.score.data[slot];
  }
  run(stages, grads);
}
/// The same for the recipe at `place` of a list; false if there is none.
template <class... Entries, class Run>
bool run_common(const Lowered& recipe, Combinations<Entries...>, int place, const Run& run) {
  int next = 0;
  ((next++ == place ? run_as(recipe, Entries{}, run) : void()), ...);
  return place >= 0;
}

/// The functors for the general kernel without weight modifiers.
template <class N>
Stages<GeneralScore, GeneralMask, N> without_factors(const Lowered& recipe) {
  Stages<GeneralScore, GeneralMask, N> to;
  to.scale = recipe.stages.scale;
  to.score = recipe.stages.score;
  to.mask = recipe.stages.mask;
  for (int slot = 0; slot < GeneralScore::kTables; ++slot)
    to.score_tables.data[slot] = recipe.stages.score_tables.data[slot];
  return to;
}

}  // namespace attn::gpu
