/// Multi-head attention: several attentions side by side, each on its share of the features.
/// Vaswani et al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/rotary.hpp"

namespace attn::nn {

/// How projections begin.
enum class FirstWeights {
  fan_in,         ///< as Linear does
  fan_in_bias_0,  ///< the same with a bias of 0, as are those of Glorot
  glorot_each,    ///< within Glorot and Bengio's bound of each projection
  glorot_matrix,  ///< within that of the matrix that several share
};

/// How the parameters are called, how many projections share a matrix, and how they begin. One
/// weight holds those of q, k and v, the rows of q first; two hold q's, and k's and v's; three
/// hold one each. There are as many biases as weights, or one for all.
struct MultiHeadConvention {
  std::array<const char*, 3> weights;
  std::array<const char*, 3> biases;
  const char* out;
  FirstWeights first;
  FirstWeights first_out;
};

/// This table is all that differs between the attentions of papers, of torch and of the models.
inline constexpr MultiHeadConvention kPaperHeads{{"W_q.weight", "W_k.weight", "W_v.weight"},
                                                 {"W_q.bias", "W_k.bias", "W_v.bias"},
                                                 "W_o",
                                                 FirstWeights::fan_in,
                                                 FirstWeights::fan_in};
inline constexpr MultiHeadConvention kTorchHeads{{"in_proj_weight"},
                                                 {"in_proj_bias"},
                                                 "out_proj",
                                                 FirstWeights::glorot_matrix,
                                                 FirstWeights::fan_in_bias_0};
inline constexpr MultiHeadConvention kTorchApartHeads{
    {"q_proj_weight", "k_proj_weight", "v_proj_weight"},
    {"in_proj_bias"},
    "out_proj",
    FirstWeights::glorot_matrix,
    FirstWeights::fan_in_bias_0};
inline constexpr MultiHeadConvention kSelfHeads{
    {"in.weight"}, {"in.bias"}, "out", FirstWeights::glorot_each, FirstWeights::glorot_each};
inline constexpr MultiHeadConvention kMemoryHeads{{"query.weight", "key_value.weight"},
                                                  {"query.bias", "key_value.bias"},
                                                  "out",
                                                  FirstWeights::glorot_each,
                                                  FirstWeights::glorot_each};

struct MultiHeadAttentionOptions {
  std::int64_t query_dim;
  std::int64_t key_dim;
  std::int64_t value_dim;
  std::int64_t hidden_dim;  ///< of all heads together
  std::int64_t heads;       ///< divides hidden_dim
  Bias bias = Bias::none;
  double dropout = 0.0;           ///< of the weights, while training
  std::int64_t out_dim = 0;       ///< of the output; 0: hidden_dim
  std::optional<double> scale{};  ///< of the scores; left out: 1 / sqrt(hidden_dim / heads)
  std::int64_t max_distance = 0;  ///< above 0: "relative", a RelativeShaw of so many
  MultiHeadConvention convention = kPaperHeads;
  /// Of keys and values, each shared by heads / key_value_heads queries; it divides heads. 0:
  /// heads. Ainslie et al., 2023, arXiv:2305.13245.
  std::int64_t key_value_heads = 0;
};

/// What a call is told beside queries, keys and values.
struct AttentionContext {
  Mask keep{};
  Tensor bias{};  ///< added to the scores, broadcast to [batch, heads, queries, keys]
  double temperature = 1.0;  ///< scores are divided by it
  RotaryTable rotary{};      ///< turns queries and keys; none: they are as projected
  Want want = Want::output;
  /// Of self attention: keys and values of earlier positions, behind which the new ones are
  /// put. The mask is of all of them.
  KvCache* cache = nullptr;
};

/// head_a = softmax(W_q q (W_k k)^T / sqrt(hidden_dim / heads)) W_v v on features
/// a * hidden_dim / heads and following; out = W_o [head_0; head_1; ...]. A query without keys
/// gets W_o's bias.
class MultiHeadAttention : public Module {
 public:
  explicit MultiHeadAttention(const MultiHeadAttentionOptions& options);

  /// q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch, keys, value_dim];
  /// output [batch, queries, out_dim], weights [batch, heads, queries, keys]. Where k is v, or
  /// all are one, projections that share a matrix are one product.
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& keep = {},
                   const Want& want = Want::output) const;
  Attended forward_with(const Tensor& q, const Tensor& k, const Tensor& v,
                        const AttentionContext& context) const;

  // The same in pieces, for a decoding, which has products laid out for itself and a cache, and
  // for those who look inside.

  /// [batch, heads, positions, channels] each; of keys and values as many heads as they have.
  struct Heads {
    Tensor q;
    Tensor keys;
    Tensor values;
  };
  Heads project(const Tensor& q, const Tensor& k, const Tensor& v,
                const RotaryTable& rotary = {}) const;
  /// Of what the one weight of q, k and v gave, side by side: [batch, positions, features].
  Heads split(const Tensor& projected, const RotaryTable& rotary = {}) const;
  /// Keys and values side by side, made once a memory: [batch, keys, 2 hidden_dim].
  Tensor remember(const Tensor& memory) const { return projected(memory, 1, 2); }
  /// Of what the weight of q gave, and of what was remembered.
  Heads split(const Tensor& projected_q, const Tensor& remembered) const;
  /// The output, [batch, queries, hidden_dim], is not projected yet.
  Attended attend_heads(const Heads& heads, const AttentionContext& context) const;

  const Tensor& weight(std::size_t i) const { return weights_[i]; }
  const Tensor& bias(std::size_t i) const { return biases_[i]; }
  const Linear& out() const;
  /// Null without relative positions.
  const RelativeShaw* relative() const { return relative_ ? &*relative_ : nullptr; }
  std::int64_t heads() const { return options_.heads; }
  double scale() const;  ///< of the products of queries and keys

 private:
  Tensor projected(const Tensor& x, std::int64_t first, std::int64_t parts) const;
  /// Features of keys, or of values, of all heads together.
  std::int64_t memory_dim() const;

  MultiHeadAttentionOptions options_;
  std::vector<Tensor> weights_;
  std::vector<Tensor> biases_;
  std::optional<Linear> out_;
  std::optional<RelativeShaw> relative_;
};

}  // namespace attn::nn
