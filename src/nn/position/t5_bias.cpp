#include "attn/nn/position/t5_bias.hpp"

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/score/t5_buckets.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

T5Bias::T5Bias(const T5BiasOptions& options)
    : options_(options),
      table_(add("relative_attention_bias",
                 Embedding({.rows = options.buckets, .features = options.heads}))) {}

Attended T5Bias::forward(const Tensor& q, const Tensor& k, const Tensor& v, const Keep& keep,
                         const Want& want) const {
  const spec::T5Options places{.direction = options_.direction,
                               .max_distance = options_.max_distance,
                               .offset = options_.query_offset};
  return attend(q, k, v, spec::dot(options_.scale) | spec::t5_bias(table_.weight(), places),
                keep, spec::softmax(), want);
}

Tensor T5Bias::buckets(std::int64_t queries, std::int64_t keys) const {
  const Tensor places = Tensor::empty({queries, keys}, DType::i64);
  auto* to = places.mutable_data<std::int64_t>();
  const std::int64_t offset = options_.query_offset.value_or(keys - queries);
  for (std::int64_t i = 0; i < queries; ++i)
    for (std::int64_t j = 0; j < keys; ++j)
      *to++ = score::t5_bucket(static_cast<int>(j - (i + offset)),
                               static_cast<int>(options_.buckets),
                               static_cast<int>(options_.max_distance), options_.direction);
  return places;
}

Tensor T5Bias::bias(std::int64_t queries, std::int64_t keys) const {
  return table_(buckets(queries, keys).to(table_.weight().device())).permute({2, 0, 1});
}

}  // namespace attn::nn
