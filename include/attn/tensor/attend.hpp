/// attend: attention on tensors as one differentiable op, fused: the score matrix is in memory
/// only where it is small, or asked for.
///
///     attend(q, k, v)                                               // scaled dot, softmax
///     attend(q, k, v, spec::dot(0.1) | spec::soft_cap(50.0), spec::causal())
///     attend(query(x), key(x), v, spec::additive(weight), spec::lengths(valid),
///            spec::softmax(), Want::output | Want::weights)
///     attend({}, {}, v, spec::given(scores))

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/kernels/route.hpp"
#include "attn/tensor/spec/mask.hpp"        // IWYU pragma: export
#include "attn/tensor/spec/normaliser.hpp"  // IWYU pragma: export
#include "attn/tensor/spec/score.hpp"       // IWYU pragma: export
#include "attn/tensor/spec/sequences.hpp"   // IWYU pragma: export
#include "attn/tensor/spec/stage.hpp"       // IWYU pragma: export
#include "attn/tensor/tensor.hpp"           // IWYU pragma: export

namespace attn {

using spec::Mask;

/// What attend() is to give back, joined by |. What is not asked for is not made.
class Want {
 public:
  // NOLINTBEGIN(readability-identifier-naming): flags, named as enumerators are
  static const Want output;
  static const Want weights;
  static const Want log_sum_exp;
  static const Want column_sums;
  static const Want arg_max;
  // NOLINTEND(readability-identifier-naming)
  /// Weights summed by distance clip(k - (q + offset), -reach, reach) + reach.
  static Want distance_sums(std::int64_t reach, spec::Offset offset = {});
  /// The `count` largest weights of each query.
  static Want top(std::int64_t count);

  /// Whether everything `part` asks for is asked for here.
  constexpr bool has(const Want& part) const { return (flags_ & part.flags_) == part.flags_; }
  std::int64_t reach() const { return reach_; }  ///< of distance_sums; -1: not wanted
  spec::Offset offset() const { return offset_; }
  std::int64_t top_count() const { return top_count_; }  ///< -1: not wanted

  friend Want operator|(const Want& a, const Want& b);

 private:
  constexpr explicit Want(unsigned flags) : flags_(flags) {}

  unsigned flags_;
  std::int64_t reach_ = -1;
  spec::Offset offset_{};
  std::int64_t top_count_ = -1;
};

inline constexpr Want Want::output{1u};
inline constexpr Want Want::weights{2u};
inline constexpr Want Want::log_sum_exp{4u};
inline constexpr Want Want::column_sums{8u};
inline constexpr Want Want::arg_max{16u};

/// The results; not defined where nobody asked. All but the last three are differentiable. The
/// output has the dtype of q, real numbers else are f32, and f64 beside f64. There is no head
/// axis where q has none.
struct Attended {
  Tensor output;       ///< [batch, heads, queries, value channels]
  Tensor weights;      ///< [batch, heads, queries, keys]: what pooled the values
  Tensor log_sum_exp;  ///< [batch, heads, queries]; -inf for a row without keys. Softmax alone
  Tensor column_sums;  ///< [batch, heads, keys]: the sum of weights of each key
  Tensor distance_sums;  ///< [batch, heads, queries, 2 reach + 1]
  Tensor arg_max;        ///< i64 [batch, heads, queries]; -1 if no weight is above 0
  Tensor top_keys;       ///< i64 [batch, heads, queries, count], largest first, then -1
  Tensor top_weights;    ///< [batch, heads, queries, count], then 0
  Route route = Route::cpu_packed;  ///< the kernels that computed the output
  const char* note = nullptr;       ///< what makes the call slow, where it is; else null
};

/// pool(normalise(keep(score(q, k))), v).
///
/// q [batch, heads, queries, channels], k [batch, kv_heads, keys, channels] and v [batch,
/// kv_heads, keys, value channels], heads being a multiple of kv_heads; or all three without
/// the head axis. Any strides, nothing is copied. One dtype: f32, bf16 and f16 run the fast
/// kernels, f64 the reference, for checks. v may be left out where no output is wanted, q and k
/// where the scores are given.
///
/// A query that keeps no key gets zeros, and passes no gradient on. What a mask hides is not
/// read, NaN or not.
///
/// attn/kernels/route.hpp tells which kernels a call takes, and why; so do `route` and `note`
/// of the result, and `attn info --route`. On the GPU functors of your own throw Unsupported.
///
/// `sequences` tells of sequences that lie packed or in pages (spec/sequences.hpp); their
/// weights cannot be looked at.
Attended attend(const Tensor& q, const Tensor& k, const Tensor& v,
                const spec::Score& score = spec::scaled_dot(), const Mask& keep = {},
                const spec::Normaliser& normaliser = spec::softmax(),
                const Want& want = Want::output, const spec::Sequences& sequences = {});

}  // namespace attn
