#include "attn/nn/mechanisms/hard/doubly_stochastic.hpp"

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "nn/padding.hpp"

namespace attn::nn {

DoublyStochasticAttention::DoublyStochasticAttention(std::int64_t hidden_dim)
    : f_beta_(add("f_beta", Linear({.in = hidden_dim, .out = 1}))) {}

DoublyStochasticResult DoublyStochasticAttention::forward(
    const DoublyStochasticInputs& in) const {
  const Attended looked =
      attend({}, {}, in.annotations, spec::given(in.scores), padding::keys(in.lengths),
             spec::softmax(), Want::output | Want::weights);
  const Tensor beta = sigmoid(f_beta_(in.hidden));
  const Tensor left = 1.0 - sum(padding::zero_past(looked.weights, in.target_lens), 1);
  const Tensor regulariser = sum(padding::zero_past(square(left), in.lengths), 1);
  return {looked.weights, beta.squeeze(-1), beta * looked.output, regulariser};
}

}  // namespace attn::nn
