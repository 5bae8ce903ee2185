/// The recipes that have GPU kernels of their own: the one list.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/determinism.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/gpu/stages.cuh"
#include "attn/mask/combine.hpp"
#include "kernels/gpu/lower.cuh"

namespace attn::gpu {

template <class S, class M>
struct Combination {};
template <class... Entries>
struct Combinations {};

/// A scale and softmax belong to each of them.
using CommonRecipes =
    Combinations<Combination<score::Chain<>, mask::None>,
                 Combination<score::Chain<>, mask::Causal>,
                 Combination<score::Chain<>, mask::SlidingWindow>,
                 Combination<score::Chain<>, mask::Lengths>,
                 Combination<score::Chain<>, mask::And<mask::Causal, mask::Lengths>>,
                 Combination<score::Chain<score::SoftCap>, mask::None>,
                 Combination<score::Chain<score::SoftCap>, mask::Causal>,
                 Combination<score::Chain<score::Alibi>, mask::None>,
                 Combination<score::Chain<score::Alibi>, mask::Causal>,
                 Combination<score::Chain<score::RelativeTable>, mask::None>,
                 Combination<score::Chain<score::RelativeTable>, mask::Causal>,
                 Combination<score::Chain<score::Gaussian>, mask::None>>;

/// They are built for 16-bit types and the head sizes of most models; everything else runs on
/// the general kernel.
template <class T, int kDim>
inline constexpr bool kHasCommonRecipes = sizeof(T) == 2 && (kDim == 64 || kDim == 128);

/// Defined in forward_instance.cu and backward_instance.cu, once for each type and head size.
template <class T, int kDim>
void run_forward(const ForwardArgs<T>& args, const Lowered& recipe, Stream stream);
template <class T, int kDim>
void run_backward(const BackwardArgs<T>& args, const Lowered& recipe, void* workspace,
                  Stream stream, Determinism determinism);

inline bool take_score(const GeneralScore& from, score::Chain<>&) {
  return from.count == 0;
}
template <class F>
bool take_score(const GeneralScore& from, score::Chain<F>& to) {
  if (from.count != 1 || !from.links[0].holds<F>()) return false;
  to.first = from.links[0].template get<F>();
  return true;
}
inline bool take_mask(const GeneralMask& from, mask::None&) {
  return from.count == 0;
}
template <class M>
bool take_mask(const GeneralMask& from, M& to) {
  if (from.count != 1 || from.nodes[0].kind != GeneralMask::Kind::leaf ||
      !from.nodes[0].leaf.holds<M>())
    return false;
  to = from.nodes[0].leaf.template get<M>();
  return true;
}

template <class A, class B>
bool take_mask(const GeneralMask& from, mask::And<A, B>& to) {
  using Kind = GeneralMask::Kind;
  if (from.count != 2 || from.nodes[0].kind != Kind::leaf || from.nodes[1].kind != Kind::leaf)
    return false;
  const bool in_order = from.nodes[0].leaf.holds<A>();
  const auto& a = from.nodes[in_order ? 0 : 1].leaf;
  const auto& b = from.nodes[in_order ? 1 : 0].leaf;
  if (!a.template holds<A>() || !b.template holds<B>()) return false;
  to = {a.template get<A>(), b.template get<B>()};
  return true;
}

/// Calls run(stages, grads) if the recipe is this combination.
template <class S, class M, class Run>
bool run_if(const Lowered& recipe, Combination<S, M>, const Run& run) {
  using St = Stages<S, M, normalise::Softmax>;
  St stages;
  if (recipe.stages.factor.count != 0 ||
      !recipe.stages.normaliser.chosen.holds<normalise::Softmax>() ||
      !take_score(recipe.stages.score, stages.score) ||
      !take_mask(recipe.stages.mask, stages.mask))
    return false;
  stages.scale = recipe.stages.scale;
  StagesGrads<St> grads;
  for (int slot = 0; slot < St::kScoreTables; ++slot) {
    stages.score_tables.data[slot] = recipe.stages.score_tables.data[slot];
    grads.score.data[slot] = recipe.grads.score.data[slot];
  }
  run(stages, grads);
  return true;
}
template <class... Entries, class Run>
bool run_common(const Lowered& recipe, Combinations<Entries...>, const Run& run) {
  return (run_if(recipe, Entries{}, run) || ...);
}

}  // namespace attn::gpu
