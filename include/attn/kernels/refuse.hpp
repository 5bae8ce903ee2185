/// The stage functions of attn/kernels/erase.hpp for types that are no functors: each says in a
/// sentence what is missing, where a failed concept would only list candidates.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <initializer_list>

#include "attn/kernels/stage.hpp"

namespace attn {

// Each list of requirements is its concept's, so that one of the assertions always fails.

template <class F>
  requires(!ScoreFunctor<F>)
AnyScore score_stage(const F&, std::initializer_list<Table> = {}) {
  static_assert(PlainFunctor<F>,
                "a functor must be trivially copyable: kernels copy it as plain bytes");
  static_assert(
      !PlainFunctor<F>,
      "a score functor needs `V forward(V s, Site<V> at) const` for every number type "
      "V, with `const P& p` as a third parameter if it reads tables");
  return {};
}

template <class F>
  requires(!WeightFunctor<F>)
AnyWeight weight_stage(const F&, std::initializer_list<Table> = {}) {
  static_assert(PlainFunctor<F>,
                "a functor must be trivially copyable: kernels copy it as plain bytes");
  static_assert(!PlainFunctor<F>,
                "a weight modifier needs `V factor(Site<V> at) const`, or "
                "`V forward(V w, Site<V> at) const`, for every number type V");
  return {};
}

template <class M>
  requires(!Mask<M>)
AnyMask mask_stage(const M&) {
  static_assert(PlainFunctor<M>,
                "a functor must be trivially copyable: kernels copy it as plain bytes");
  static_assert(
      requires(const M& mask, Site<double> at) {
        { mask.keep(at) } -> std::convertible_to<bool>;
      }, "a mask needs `auto keep(Site<V> at) const`: whether the pair exists");
  static_assert(
      requires(const M& mask, Block block) {
        { mask.cover(block) } -> std::same_as<Cover>;
      },
      "a mask needs `Cover cover(const Block& block) const`: how much of a block it "
      "keeps; Cover::some is always a safe answer");
  return {};
}

template <class N>
  requires(!Normaliser<N>)
AnyNormaliser normaliser_stage(const N&, std::initializer_list<Table> = {}) {
  static_assert(PlainFunctor<N>,
                "a functor must be trivially copyable: kernels copy it as plain bytes");
  static_assert(StreamingNormaliser<N> || WholeRowNormaliser<N>,
                "a normaliser needs either `weight`, `mass` and `finish`, to take the keys one "
                "by one, or `solve`, to see a whole row first");
  static_assert(
      requires {
        { N::kCoupling } -> std::convertible_to<Coupling>;
        { N::kRunsMax } -> std::convertible_to<bool>;
      }, "a normaliser needs the constants `kCoupling` and `kRunsMax`");
  static_assert(
      requires(const N& n, double x, Site<double> at) {
        { n.final_weight(x, x, at) } -> std::same_as<double>;
      },
      "a normaliser needs `V final_weight(V s, V stat, Site<V> at) const`: the weight "
      "of a score once its row is known");
  static_assert(
      requires(const N& n, double x, Site<double> at) {
        { n.final_slope(x, x, x, at) } -> std::same_as<double>;
      },
      "a normaliser needs `V final_slope(V s, V w, V stat, Site<V> at) const`: the "
      "derivative of that weight by its score");
  return {};
}

}  // namespace attn
