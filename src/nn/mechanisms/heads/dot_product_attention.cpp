#include "attn/nn/mechanisms/heads/dot_product_attention.hpp"

#include "attn/tensor/attend.hpp"
#include "nn/attention/weight_dropout.hpp"

namespace attn::nn {

DotProductAttention::DotProductAttention(const DotProductAttentionOptions& options)
    : dropout_(options.dropout) {}

Attended DotProductAttention::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Mask& keep, const Want& want) const {
  return attend(q, k, v, spec::scaled_dot(), keep, softmax_with_dropout(*this, dropout_), want);
}

}  // namespace attn::nn
