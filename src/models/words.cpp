#include "models/words.hpp"

#include <cmath>
#include <cstdint>

#include "attn/models/options.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"

namespace attn::models {
namespace {

Tensor first_table(std::int64_t rows, std::int64_t dim) {
  return normal({rows, dim}, 0.0, 1.0 / std::sqrt(static_cast<double>(dim)), nn::random());
}

}  // namespace

Words::Words(const ModelOptions& options)
    : dropout_(add("dropout", nn::Dropout(options.dropout))),
      word_dropout_(add("word_dropout", nn::Dropout(options.word_dropout))),
      target_(add("target", first_table(options.target_vocabulary, options.dim))),
      source_(options.tie == Tie::all
                  ? target_
                  : add("source", first_table(options.source_vocabulary, options.dim))),
      output_(options.tie == Tie::none
                  ? add("output", first_table(options.target_vocabulary, options.dim))
                  : target_),
      bias_(add("bias", Tensor::zeros({options.target_vocabulary}))) {}

Tensor Words::read(const Tensor& table, const Tensor& ids) const {
  const Tensor vectors =
      embedding(table, ids.to(table.device())) * std::sqrt(static_cast<double>(table.size(1)));
  return dropout_(word_dropout_.probability() > 0.0 ? vectors * seen_words(vectors) : vectors);
}

/// [..., 1]: 0 where a word is not seen, a little more than 1 elsewhere.
Tensor Words::seen_words(const Tensor& vectors) const {
  Shape shape = vectors.shape();
  shape[-1] = 1;
  return word_dropout_(Tensor::full(shape, 1.0, vectors.dtype(), vectors.device()));
}

Tensor Words::source(const Tensor& ids) const {
  return read(source_, ids);
}

Tensor Words::target(const Tensor& ids) const {
  return read(target_, ids);
}

Tensor Words::logits(const Tensor& x) const {
  return linear(dropout_(x), output_, bias_);
}

}  // namespace attn::models
