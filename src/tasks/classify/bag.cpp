// Sums of the words of a text.

#include "tasks/classify/bag.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/classify/text_batch.hpp"
#include "tasks/classify/tf_idf.hpp"

namespace attn::tasks::classify {

Tensor plain_bag(const Tensor& rows, const TextBatch& batch) {
  const auto lens = batch.word_lens.to_vector<std::int64_t>();
  const auto sentences = static_cast<std::size_t>(batch.sentences);
  std::vector<float> shares(lens.size(), 0.0f);
  for (std::size_t begin = 0; begin < lens.size(); begin += sentences) {
    std::int64_t all = 0;
    for (std::size_t i = begin; i < begin + sentences; ++i) all += lens[i];
    for (std::size_t i = begin; i < begin + sentences; ++i)
      shares[i] = static_cast<float>(lens[i]) / std::sqrt(static_cast<float>(all));
  }
  const Tensor weights = Tensor::from(shares, {batch.word_lens.size(0), 1}).to(rows.device());
  const Tensor means = nn::average_pooling(rows, batch.word_lens).output;
  return sum((means * weights).reshape({batch.texts, batch.sentences, rows.size(2)}), 1);
}

Tensor tf_idf_bag(const Tensor& rows, const TextBatch& batch, const Tensor& rarities) {
  const std::vector<float> weights = tf_idf_weights(batch, rarities.to_vector<float>());
  const std::int64_t all = batch.sentences * batch.words;
  return matmul(Tensor::from(weights, {batch.texts, 1, all}).to(rows.device()),
                rows.reshape({batch.texts, all, rows.size(2)}))
      .squeeze(1);
}

}  // namespace attn::tasks::classify
