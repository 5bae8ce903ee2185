#include "attn/nn/layer_norm.hpp"

#include "attn/tensor/ops/normalise.hpp"

namespace attn::nn {

LayerNorm::LayerNorm(const LayerNormOptions& options)
    : eps_(options.eps),
      weight_(add("weight", Tensor::full({options.features}, 1.0))),
      bias_(add("bias", Tensor::zeros({options.features}))) {}

Tensor LayerNorm::operator()(const Tensor& x) const {
  return layer_norm(x, weight_, bias_, eps_);
}

}  // namespace attn::nn
