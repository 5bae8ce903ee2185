#include "attn/nn/mechanisms/applied/las_attention.hpp"

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {

LasAttention::LasAttention(const LasAttentionOptions& options)
    : activation_(options.activation),
      phi_(add("phi", Linear({.in = options.query_dim, .out = options.hidden}))),
      psi_(add("psi", Linear({.in = options.encoder_dim, .out = options.hidden}))) {}

Attended LasAttention::forward(const Tensor& encoder, const Tensor& queries,
                               const Tensor& lengths, const Want& want) const {
  const Tensor values = padding::zero_past(encoder, lengths);
  return attend(activate(phi_(queries), activation_), activate(psi_(values), activation_),
                values, spec::dot(), padding::keys(lengths), spec::softmax(), want);
}

}  // namespace attn::nn
