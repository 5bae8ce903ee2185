#include "attn/nn/conv.hpp"

#include <cstdint>

#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/ops/conv.hpp"

namespace attn::nn {
namespace {

Tensor bias_for(const ConvOptions& options, std::int64_t fan_in) {
  return options.bias == Bias::learnt ? fan_in_uniform({options.out}, fan_in) : Tensor();
}

}  // namespace

Conv1d::Conv1d(const ConvOptions& options, const Conv1dOptions& steps)
    : steps_(steps),
      weight_(add("weight", fan_in_uniform({options.out, options.in, options.kernel},
                                           options.in * options.kernel))),
      bias_(add("bias", bias_for(options, options.in * options.kernel))) {}

Tensor Conv1d::operator()(const Tensor& x) const {
  return conv1d(x, weight_, bias_, steps_);
}

Conv2d::Conv2d(const ConvOptions& options, const Conv2dOptions& steps)
    : steps_(steps),
      weight_(add("weight",
                  fan_in_uniform({options.out, options.in, options.kernel, options.kernel},
                                 options.in * options.kernel * options.kernel))),
      bias_(add("bias", bias_for(options, options.in * options.kernel * options.kernel))) {}

Tensor Conv2d::operator()(const Tensor& x) const {
  return conv2d(x, weight_, bias_, steps_);
}

}  // namespace attn::nn
