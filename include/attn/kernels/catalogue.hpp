/// The catalogue: the library's functors, one list a stage. A functor in its list has tile
/// kernels for every instruction set, a place in the GPU's kernels and a `kind`, by which
/// kernels are chosen. Put a new one at the end of its list; nothing else has to know it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <type_traits>

#include "attn/kernels/stage.hpp"
#include "attn/mask/around.hpp"               // IWYU pragma: export
#include "attn/mask/block_sparse.hpp"         // IWYU pragma: export
#include "attn/mask/causal.hpp"               // IWYU pragma: export
#include "attn/mask/dense.hpp"                // IWYU pragma: export
#include "attn/mask/dilated.hpp"              // IWYU pragma: export
#include "attn/mask/documents.hpp"            // IWYU pragma: export
#include "attn/mask/lengths.hpp"              // IWYU pragma: export
#include "attn/mask/none.hpp"                 // IWYU pragma: export
#include "attn/mask/prefix.hpp"               // IWYU pragma: export
#include "attn/mask/sliding_window.hpp"       // IWYU pragma: export
#include "attn/normalise/dropout.hpp"         // IWYU pragma: export
#include "attn/normalise/hard.hpp"            // IWYU pragma: export
#include "attn/normalise/identity.hpp"        // IWYU pragma: export
#include "attn/normalise/local_gaussian.hpp"  // IWYU pragma: export
#include "attn/normalise/mean.hpp"            // IWYU pragma: export
#include "attn/normalise/scale_weight.hpp"    // IWYU pragma: export
#include "attn/normalise/sigmoid.hpp"         // IWYU pragma: export
#include "attn/normalise/softmax.hpp"         // IWYU pragma: export
#include "attn/normalise/softmax_sink.hpp"    // IWYU pragma: export
#include "attn/normalise/sparsemax.hpp"       // IWYU pragma: export
#include "attn/normalise/summed_sigmoid.hpp"  // IWYU pragma: export
#include "attn/score/alibi.hpp"               // IWYU pragma: export
#include "attn/score/bias.hpp"                // IWYU pragma: export
#include "attn/score/gaussian.hpp"            // IWYU pragma: export
#include "attn/score/prior.hpp"               // IWYU pragma: export
#include "attn/score/program.hpp"             // IWYU pragma: export
#include "attn/score/relative_table.hpp"      // IWYU pragma: export
#include "attn/score/scale.hpp"               // IWYU pragma: export
#include "attn/score/soft_cap.hpp"            // IWYU pragma: export
#include "attn/score/t5_bias.hpp"             // IWYU pragma: export

namespace attn::catalogue {

/// Functor types in order.
template <class... Fs>
struct List {
  static constexpr int kCount = static_cast<int>(sizeof...(Fs));
};

using Scores = List<score::Scale, score::LearnedScale, score::SoftCap, score::Alibi,
                    score::RelativeTable, score::T5Bias, score::Gaussian,
                    score::LearnedGaussian, score::Bias, score::Prior, score::Program>;
using Masks = List<mask::None, mask::Causal, mask::SlidingWindow, mask::Prefix, mask::Lengths,
                   mask::Documents, mask::Dense, mask::BlockSparse, mask::Dilated,
                   mask::Around<float>, mask::Around<double>>;
using Normalisers = List<normalise::Softmax, normalise::SoftmaxSink, normalise::Identity,
                         normalise::Mean, normalise::Sigmoid, normalise::SummedSigmoid,
                         normalise::HardMax, normalise::HardSample, normalise::Sparsemax>;
using Weights =
    List<normalise::Dropout, normalise::LocalGaussian, normalise::ScaleWeight, score::Program>;

/// The place of a functor in a list; -1 if it is not there, as a user's own are not.
template <class F, class AnyList>
inline constexpr int kKind = -1;
template <class F, class... Fs>
inline constexpr int kKind<F, List<Fs...>> = [] {
  int kind = -1;
  int next = 0;
  ((kind = std::is_same_v<F, Fs> ? next : kind, ++next), ...);
  return kind;
}();

/// The list of a stage, as a type.
Scores list_of(const AnyScore&);
Masks list_of(const AnyMask&);
Normalisers list_of(const AnyNormaliser&);
Weights list_of(const AnyWeight&);

/// Whether a stage holds the library's functor F.
template <class F, class Any>
bool is(const Any& any) {
  return any.kind >= 0 && any.kind == kKind<F, decltype(list_of(any))>;
}

template <class... As, class... Bs>
constexpr List<As..., Bs...> operator+(List<As...>, List<Bs...>) {
  return {};
}
/// Those functors of a list of which Test<F>::value is true.
template <template <class> class Test, class... Fs>
constexpr auto only(List<Fs...>) {
  return (List<>{} + ... + std::conditional_t<Test<Fs>::value, List<Fs>, List<>>{});
}

}  // namespace attn::catalogue
