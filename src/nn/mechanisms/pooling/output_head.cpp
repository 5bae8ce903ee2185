#include "attn/nn/mechanisms/pooling/output_head.hpp"

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

OutputHead::OutputHead(const OutputHeadOptions& options)
    : activation_(options.activation),
      w_o_(add("W_o", Linear({.in = options.value_dim, .out = options.out}))) {}

OutputHead::Result OutputHead::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const Keep& keep, const Want& want) const {
  const Attended looked =
      attend(q, k, v, spec::scaled_dot(), keep, spec::softmax(), want | Want::output);
  return {activate(w_o_(looked.output), activation_), looked.output, looked.weights};
}

}  // namespace attn::nn
