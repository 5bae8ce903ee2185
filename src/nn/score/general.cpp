#include "attn/nn/score/general.hpp"

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

GeneralAttention::GeneralAttention(const GeneralAttentionOptions& options)
    : w_a_(add("W_a",
               Linear({.in = options.key_dim, .out = options.query_dim, .bias = Bias::none}))) {
}

Attended GeneralAttention::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                   const Keep& keep, const Want& want) const {
  return attend(q, w_a_(k), v, spec::dot(), keep, spec::softmax(), want);
}

}  // namespace attn::nn
