#include "attn/nn/embedding.hpp"

#include "attn/nn/init.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/random.hpp"

namespace attn::nn {

Embedding::Embedding(const EmbeddingOptions& options)
    : weight_(add("weight", normal({options.rows, options.features}, 0.0, 1.0, random()))) {}

Tensor Embedding::operator()(const Tensor& ids) const {
  return embedding(weight_, ids);
}

}  // namespace attn::nn
