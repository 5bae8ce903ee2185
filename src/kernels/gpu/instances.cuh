/// The recipes that have GPU kernels of their own: the one list.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <type_traits>

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/determinism.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/gpu/stages.cuh"
#include "attn/mask/combine.hpp"
#include "kernels/gpu/lower.cuh"

namespace attn::gpu {

template <class S, class M, class F = NoFactor>
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
                 Combination<score::Chain<score::Gaussian>, mask::None>,
                 Combination<score::Chain<>, mask::Causal, normalise::Dropout>,
                 Combination<score::Chain<>, mask::Lengths, normalise::Dropout>>;

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

/// The mask, if it is an M. Masks such as Causal have no default to begin with.
inline std::optional<mask::None> mask_as(const GeneralMask& from,
                                         std::type_identity<mask::None>) {
  return from.count == 0 ? std::optional(mask::None{}) : std::nullopt;
}
template <class M>
std::optional<M> mask_as(const GeneralMask& from, std::type_identity<M>) {
  if (from.count != 1 || from.nodes[0].kind != GeneralMask::Kind::leaf ||
      !from.nodes[0].leaf.holds<M>())
    return std::nullopt;
  return from.nodes[0].leaf.template get<M>();
}
template <class A, class B>
std::optional<mask::And<A, B>> mask_as(const GeneralMask& from,
                                       std::type_identity<mask::And<A, B>>) {
  using Kind = GeneralMask::Kind;
  if (from.count != 2 || from.nodes[0].kind != Kind::leaf || from.nodes[1].kind != Kind::leaf)
    return std::nullopt;
  const bool in_order = from.nodes[0].leaf.holds<A>();
  const auto& a = from.nodes[in_order ? 0 : 1].leaf;
  const auto& b = from.nodes[in_order ? 1 : 0].leaf;
  if (!a.template holds<A>() || !b.template holds<B>()) return std::nullopt;
  return mask::And<A, B>{a.template get<A>(), b.template get<B>()};
}

inline bool take_factor(const GeneralFactor& from, NoFactor&) {
  return from.count == 0;
}
template <class F>
bool take_factor(const GeneralFactor& from, F& to) {
  if (from.count != 1 || !from.links[0].holds<F>()) return false;
  to = from.links[0].template get<F>();
  return true;
}

/// Calls run(stages, grads) if the recipe is this combination.
template <class S, class M, class F, class Run>
bool run_if(const Lowered& recipe, Combination<S, M, F>, const Run& run) {
  using St = Stages<S, M, normalise::Softmax, F>;
  S score{};
  F factor{};
  const std::optional<M> mask = mask_as(recipe.stages.mask, std::type_identity<M>());
  if (!take_factor(recipe.stages.factor, factor) ||
      !recipe.stages.normaliser.chosen.holds<normalise::Softmax>() ||
      !take_score(recipe.stages.score, score) || !mask)
    return false;
  St stages{.scale = recipe.stages.scale, .score = score, .mask = *mask, .factor = factor};
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
