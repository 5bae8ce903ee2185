/// The concepts of the four stages: what a score modifier, a mask, a normaliser and a weight
/// modifier must offer. Each functor asserts its concept under its own definition.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <type_traits>

// A functor's author includes this file alone: it brings what the functor is written with.
#include "attn/core/functor.hpp"  // IWYU pragma: export
#include "attn/core/macros.hpp"   // IWYU pragma: export
#include "attn/core/math.hpp"     // IWYU pragma: export
#include "attn/core/params.hpp"   // IWYU pragma: export
#include "attn/core/site.hpp"     // IWYU pragma: export

namespace attn {

/// Functors are copied as bytes to other threads and devices.
template <class F>
concept PlainFunctor = std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>;

/// A functor whose type only one file can name, because a lambda is inside. No other file can
/// compile its kernels, so that file compiles them itself.
template <class F>
concept OneFileFunctor = requires { requires F::kOneFile; };

/// A pointwise change of a score: V forward(V s, Site<V> at[, const P& p]), and optionally
/// V backward(V grad, V s, Site<V> at[, const P& p, const G& g]).
template <class F>
concept ScoreFunctor =
    PlainFunctor<F> && (requires(const F& f, double s, Site<double> at) {
      { f.forward(s, at) } -> std::same_as<double>;
    } || requires(const F& f, double s, Site<double> at, const Params<double>& p) {
      { f.forward(s, at, p) } -> std::same_as<double>;
    });

/// Which pairs exist, for an element (`keep`) and for a block (`cover`).
template <class M>
concept MaskFunctor = PlainFunctor<M> && requires(const M& m, Site<double> at, Block block) {
  { m.keep(at) } -> std::convertible_to<bool>;
  { m.cover(block) } -> std::same_as<Cover>;
};

/// How the gradients of one row's weights depend on each other: dS = slope * (dP - delta).
enum class Coupling {
  none,     ///< delta = 0: every weight stands alone
  output,   ///< delta = sum of weight * dP, which is dO . O
  support,  ///< delta = sum of slope * dP over sum of slope
};

/// What is left of a row when all its keys were seen. The weight of a score is a function of
/// the score and of `stat` alone; `stat` is what the backward pass keeps (softmax:
/// log-sum-exp).
template <class V>
struct Row {
  V scale;  ///< what the pooled sum is multiplied by
  V stat;
};

/// A normaliser that streams: it carries a running reference (the maximum, if kRunsMax) and a
/// mass along the keys, and can be cut at any key.
template <class N>
concept StreamingNormaliser =
    requires(const N& n, double s, double reference, double mass, const Params<double>& p) {
      { n.weight(s, reference) } -> std::same_as<double>;  // before the row is finished
      { n.mass(s) } -> std::same_as<double>;               // what the weight of a kept key adds
      { n.finish(reference, mass, p) } -> std::same_as<Row<double>>;
    };

/// A normaliser that must see a whole row of scores first: stat = solve(scores, count, site of
/// the first). Masked scores are -inf.
template <class N>
concept WholeRowNormaliser = requires(const N& n, const double* s, int count, Site<double> at) {
  { n.solve(s, count, at) } -> std::same_as<double>;
};

template <class N>
concept Normaliser = PlainFunctor<N> && (StreamingNormaliser<N> || WholeRowNormaliser<N>) &&
                     requires(const N& n, double s, double w, double stat, Site<double> at) {
                       { N::kCoupling } -> std::convertible_to<Coupling>;
                       { N::kRunsMax } -> std::convertible_to<bool>;
                       {
                         n.final_weight(s, stat, at)
                       } -> std::same_as<double>;  // once the row is known
                       {
                         n.final_slope(s, w, stat, at)
                       } -> std::same_as<double>;  // d weight / d s, stat fixed
                     };

/// A normaliser that says so (kSumsToOne): the weights of a row with keys sum to one, so that a
/// sum of them shows how `stat` was rounded.
template <class N>
concept SumsToOne = requires { requires N::kSumsToOne; };

/// A change of a weight after normalisation. With `factor(at[, p])` the weight is multiplied by
/// a number of the position alone, in the same pass; with `forward(w, at[, p])` it is any
/// function of the weight, and costs a second pass over the row.
template <class F>
concept WeightFactor =
    PlainFunctor<F> && (requires(const F& f, Site<double> at) {
      { f.factor(at) } -> std::same_as<double>;
    } || requires(const F& f, Site<double> at, const Params<double>& p) {
      { f.factor(at, p) } -> std::same_as<double>;
    });
template <class F>
concept WeightFunctor = WeightFactor<F> || ScoreFunctor<F>;

}  // namespace attn
