#include "attn/nn/score/concat.hpp"

#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

ConcatAttention::ConcatAttention(const ConcatAttentionOptions& options)
    : query_dim_(options.query_dim),
      w_a_(add("W_a", Linear({.in = options.query_dim + options.key_dim,
                              .out = options.hidden_dim,
                              .bias = Bias::none}))),
      v_a_(add("v_a", fan_in_uniform({options.hidden_dim}, options.hidden_dim))) {}

Attended ConcatAttention::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                  const Keep& keep, const Want& want) const {
  const Tensor& weight = w_a_.weight();
  const Tensor query = linear(q, weight.slice(1, 0, query_dim_));
  const Tensor key = linear(k, weight.slice(1, query_dim_, weight.size(1)));
  return attend(query, key, v, spec::additive(v_a_), keep, spec::softmax(), want);
}

}  // namespace attn::nn
