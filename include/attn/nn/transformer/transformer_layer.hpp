/// A layer of the Transformer: of its encoder, or, with a memory, of its decoder. Vaswani et
/// al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>

#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/norm.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

/// Where a layer normalises: behind each residual sum (Vaswani et al., 2017), or in front of
/// each part (Xiong et al., 2020, arXiv:2002.04745).
enum class NormOrder { after, before };

/// What stands between the two projections of the features. Shazeer, 2020, arXiv:2002.05202.
enum class FeedForward {
  plain,   ///< f(in(x)), f the activation
  geglu,   ///< gelu(gate(x)) * in(x)
  swiglu,  ///< g sigmoid(g) * in(x), g = gate(x)
};

/// How the parts of a layer are called and begin.
struct LayerConvention {
  const char* self_norm;
  const char* self;
  const char* memory_norm;  ///< of a decoder
  const char* memory;       ///< so
  const char* feed_norm;
  const char* feed_in;
  const char* feed_out;
  MultiHeadConvention self_heads;
  MultiHeadConvention memory_heads;
  FirstWeights feed;
  const char* feed_gate = "feed.gate";  ///< of a gated feed-forward part
};

/// torch.nn.TransformerEncoderLayer and torch.nn.TransformerDecoderLayer.
inline constexpr LayerConvention kTorchEncoder{
    "norm1",   "self_attn", nullptr,     nullptr,     "norm2",
    "linear1", "linear2",   kTorchHeads, kTorchHeads, FirstWeights::fan_in};
inline constexpr LayerConvention kTorchDecoder{
    "norm1",   "self_attn", "norm2",     "multihead_attn", "norm3",
    "linear1", "linear2",   kTorchHeads, kTorchHeads,      FirstWeights::fan_in};
/// The models of attn/models.
inline constexpr LayerConvention kModelEncoder{
    "self_norm", "self",     nullptr,    nullptr,      "feed_norm",
    "feed.in",   "feed.out", kSelfHeads, kMemoryHeads, FirstWeights::glorot_each};
inline constexpr LayerConvention kModelDecoder{
    "self_norm", "self",     "source_norm", "source",     "feed_norm",
    "feed.in",   "feed.out", kSelfHeads,    kMemoryHeads, FirstWeights::glorot_each};

struct TransformerLayerOptions {
  std::int64_t dim;
  std::int64_t heads;
  std::int64_t feed_forward_dim;
  Activation activation = Activation::relu;
  NormOrder norm = NormOrder::after;
  double layer_norm_eps = 1e-5;
  /// Of the attention weights, of the hidden features and of what each part adds, in training.
  double dropout = 0.0;
  std::int64_t max_distance = 0;   ///< of relative positions in self attention; 0: none
  std::int64_t attention_dim = 0;  ///< of all heads of self attention together; 0: dim
  /// Of what the layer gives; 0: dim. Where it differs, the residual sum of self attention
  /// takes "residual", a projection of the input.
  std::int64_t out_dim = 0;
  std::optional<double> scale{};  ///< of the scores of self attention; left out: as usual
  NormKind norm_kind = NormKind::layer;
  FeedForward feed = FeedForward::plain;
  std::int64_t key_value_heads = 0;  ///< of self attention; 0: heads
  Bias bias = Bias::learnt;          ///< of all projections
};

/// Self attention, attention over a memory if it has one, and FF = out(f(in(x))), or
/// out(gated(x)); each with a residual sum and its own norm: x = norm(x + part(x)),
/// or x = x + part(norm(x)).
class TransformerLayer : public Module {
 public:
  /// A convention that names a memory makes a decoder's layer. Parts are registered in the
  /// order in which they run.
  TransformerLayer(const TransformerLayerOptions& options, const LayerConvention& convention);

  struct Result {
    Tensor output;   ///< [batch, positions, out_dim]
    Tensor weights;  ///< [batch, heads, positions, keys] over the memory, if they are wanted
    Tensor self_weights{};  ///< of self attention likewise
  };
  /// x [batch, positions, dim], memory [batch, keys, dim] of a decoder's layer.
  Result forward(const Tensor& x, const AttentionContext& self, const Tensor& memory = {},
                 const AttentionContext& over_memory = {}) const;

  // Its parts, for a decoding and for those who look inside.
  const Norm& self_norm() const { return self_norm_; }
  const MultiHeadAttention& self() const { return self_; }
  // Of a layer with a memory alone; InvalidArgument from another.
  const Norm& memory_norm() const;
  const MultiHeadAttention& memory() const;
  const Norm& feed_norm() const { return feed_norm_; }
  const Linear& feed_in() const { return feed_in_; }
  const Linear& feed_out() const { return feed_out_; }
  /// Null unless the features are gated.
  const Linear* feed_gate() const { return feed_gate_ ? &*feed_gate_ : nullptr; }
  /// What stands between feed_in and feed_out: of what feed_in gave and, where features are
  /// gated, of what feed_gate gave.
  Tensor hidden(const Tensor& in, const Tensor& gate) const;
  /// Whether that is relu and nothing else, which products can do at once.
  bool is_relu() const { return !feed_gate_ && options_.activation == Activation::relu; }

 private:
  TransformerLayerOptions options_;
  Norm self_norm_;
  MultiHeadAttention self_;
  std::optional<Linear> residual_;
  std::optional<Norm> memory_norm_;
  std::optional<MultiHeadAttention> memory_;
  Norm feed_norm_;
  std::optional<Linear> feed_gate_;
  Linear feed_in_;   ///< [feed_forward_dim, out_dim]
  Linear feed_out_;  ///< [out_dim, feed_forward_dim]
  Dropout dropout_;
};

}  // namespace attn::nn
