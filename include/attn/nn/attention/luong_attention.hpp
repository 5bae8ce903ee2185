/// The attentions of Luong's paper: four scores, over the whole source or near one position.
/// Luong, Pham and Manning, 2015, arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"  // IWYU pragma: export

namespace attn::nn {

enum class LuongScore {
  dot,       ///< h . e
  general,   ///< h^T W_a e
  concat,    ///< v_a . tanh(W_a [h; e])
  location,  ///< (W_a h)_j: the query alone tells where
};

/// Which positions a query may look at.
enum class Locality {
  global,      ///< all
  monotonic,   ///< local-m: |j - t| <= D for query t
  predictive,  ///< local-p: |j - p| <= D, p = length * sigmoid(v_p . tanh(W_p h))
};

/// Whether weights are multiplied by exp(-(j - p)^2 / (2 sigma^2)), sigma = D / 2.
enum class Fade { none, gaussian };

/// How the parameters are called. W_a of concat is one matrix, the columns of the query first,
/// or two, where the columns of query and key have names.
struct LuongNames {
  const char* matrix;        ///< W_a
  const char* query_matrix;  ///< null: concat has one matrix
  const char* key_matrix;
  const char* predictor;  ///< W_p
};
inline constexpr LuongNames kPaperLuong{"W_a.weight", nullptr, nullptr, "W_p.weight"};
inline constexpr LuongNames kModelLuong{"W_a", "W_q", "W_k", "W_p"};

struct LuongAttentionOptions {
  std::int64_t query_dim;
  std::int64_t key_dim;
  LuongScore score = LuongScore::dot;
  Locality locality = Locality::global;
  std::int64_t window = 0;  ///< D, on either side
  Fade fade = Fade::none;
  std::int64_t hidden_dim = 0;     ///< of concat; 0: query_dim
  std::int64_t predictor_dim = 0;  ///< of local-p; 0: query_dim
  std::int64_t max_keys = 0;       ///< of location
  LuongNames names = kPaperLuong;
};

/// w = softmax(score) over what the locality leaves, times the Gaussian; context = w v. Nothing
/// is renormalised. The gradient reaches p through the Gaussian alone: which keys are in the
/// window is constant.
class LuongAttention : public Module {
 public:
  explicit LuongAttention(const LuongAttentionOptions& options);

  /// Projects the keys [batch, keys, key_dim], once. Lengths i64 [batch], or none.
  DecoderSource read(const Tensor& keys, const Tensor& values, const Tensor& lengths) const;

  /// h [batch, queries, query_dim]; `first` is the position of the first query.
  Attended forward(const Tensor& h, const DecoderSource& source, std::int64_t first,
                   const AttentionContext& context) const;
  /// Everywhere, at once: q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch,
  /// keys, value_dim].
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& keep = {},
                   const Want& want = Want::output) const {
    return forward(q, read(k, v, {}), 0, {.keep = keep, .want = want});
  }

  // Its parts, for those who look inside and for luong_decode.

  /// p of each query, [batch, queries].
  Tensor centre(const Tensor& h, const DecoderSource& source, std::int64_t first) const;
  /// What the locality and the lengths leave.
  Mask keep(const Tensor& h, const DecoderSource& source, std::int64_t first) const;
  /// The scores of location, [batch, queries, keys].
  Tensor location_scores(const Tensor& h, const DecoderSource& source) const;
  /// Whether luong_decode does the same.
  bool fused() const {
    return options_.locality == Locality::global && options_.score != LuongScore::location;
  }
  Tensor query_weight() const;  ///< of concat, else none
  const Tensor& score_weight() const { return v_a_; }
  bool fades() const { return options_.fade == Fade::gaussian && options_.window > 0; }
  const LuongAttentionOptions& options() const { return options_; }

 private:
  Tensor key_weight() const;

  LuongAttentionOptions options_;
  Tensor w_a_;  ///< general [query_dim, key_dim], location [max_keys, query_dim]; or of concat
  Tensor w_q_;
  Tensor w_k_;
  Tensor v_a_;  ///< "v_a" [hidden_dim] of concat
  Tensor w_p_;  ///< [predictor_dim, query_dim] of local-p
  Tensor v_p_;  ///< "v_p" [predictor_dim]
};

/// The score inside the window of a local attention: dot or general, whose W_a is [query_dim,
/// key_dim].
struct LocalScoreOptions {
  LuongScore score = LuongScore::dot;
  std::int64_t query_dim = 0;
  std::int64_t key_dim = 0;
};

}  // namespace attn::nn
