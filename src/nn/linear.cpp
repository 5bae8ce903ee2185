#include "attn/nn/linear.hpp"

#include "attn/nn/init.hpp"
#include "attn/tensor/ops/matmul.hpp"

namespace attn::nn {

Linear::Linear(const LinearOptions& options)
    : weight_(add("weight", fan_in_uniform({options.out, options.in}, options.in))),
      bias_(add("bias", options.bias == Bias::learnt ? fan_in_uniform({options.out}, options.in)
                                                     : Tensor())) {}

Tensor Linear::operator()(const Tensor& x) const {
  return linear(x, weight_, bias_);
}

}  // namespace attn::nn
