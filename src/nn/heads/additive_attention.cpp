#include "attn/nn/heads/additive_attention.hpp"

#include "attn/nn/score/additive.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/heads/weight_dropout.hpp"

namespace attn::nn {

AdditiveAttention::AdditiveAttention(const AdditiveAttentionOptions& options)
    : AdditiveScore({.query_dim = options.query_dim,
                     .key_dim = options.key_dim,
                     .hidden_dim = options.hidden_dim}),
      dropout_(options.dropout) {}

Attended AdditiveAttention::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const Keep& keep, const Want& want) const {
  return pool(q, k, v, keep, softmax_with_dropout(*this, dropout_), want);
}

}  // namespace attn::nn
