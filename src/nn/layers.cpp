// The plain layers: linear maps, embeddings, norms, dropout, convolutions.

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/nn/conv.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/norm.hpp"
#include "attn/tensor/ops/conv.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"

namespace attn::nn {
namespace {

Tensor bias_for(const ConvOptions& options, std::int64_t fan_in) {
  return options.bias == Bias::learnt ? fan_in_uniform({options.out}, fan_in) : Tensor();
}

}  // namespace

Linear::Linear(const LinearOptions& options)
    : weight_(add("weight", fan_in_uniform({options.out, options.in}, options.in))),
      bias_(add("bias", options.bias == Bias::learnt ? fan_in_uniform({options.out}, options.in)
                                                     : Tensor())) {}

Tensor Linear::operator()(const Tensor& x) const {
  return linear(x, weight_, bias_);
}

Embedding::Embedding(const EmbeddingOptions& options)
    : weight_(add("weight", standard_normal({options.rows, options.features}))) {}

Tensor Embedding::operator()(const Tensor& ids) const {
  return embedding(weight_, ids);
}

LayerNorm::LayerNorm(const LayerNormOptions& options)
    : eps_(options.eps),
      weight_(add("weight", Tensor::full({options.features}, 1.0))),
      bias_(add("bias", Tensor::zeros({options.features}))) {}

Tensor LayerNorm::operator()(const Tensor& x) const {
  return layer_norm(x, weight_, bias_, eps_);
}

RmsNorm::RmsNorm(const LayerNormOptions& options)
    : eps_(options.eps), weight_(add("weight", Tensor::full({options.features}, 1.0))) {}

Tensor RmsNorm::operator()(const Tensor& x) const {
  // Squares of 16-bit numbers are summed in f32, as layer_norm does it.
  const bool narrow = x.dtype() != DType::f64;
  const Tensor wide = narrow ? x.to(DType::f32) : x;
  const Tensor root = sqrt(mean(square(wide), -1, Axis::keep) + eps_);
  return (wide / root).to(x.dtype()) * weight_;
}

Norm::Norm(NormKind kind, const LayerNormOptions& options) {
  if (kind == NormKind::layer) {
    layer_ = add_unnamed(LayerNorm(options));
  } else {
    rms_ = add_unnamed(RmsNorm(options));
  }
}

Tensor Dropout::operator()(const Tensor& x) const {
  return training() ? dropout(x, probability_, random()) : x;
}

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
