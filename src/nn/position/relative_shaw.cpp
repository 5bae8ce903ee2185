#include "attn/nn/position/relative_shaw.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {
namespace {

Tensor distance_vectors(std::int64_t max_distance, std::int64_t dim) {
  if (max_distance < 0)
    fail("attn::nn::RelativeShaw: max_distance ", max_distance, "; 0 and more are accepted");
  return dim > 0 ? glorot_uniform({2 * max_distance + 1, dim}) : Tensor();
}

}  // namespace

RelativeShaw::RelativeShaw(const RelativeShawOptions& options)
    : options_(options),
      rel_k_(add("rel_k", distance_vectors(options.max_distance, options.key_dim))),
      rel_v_(add("rel_v", distance_vectors(options.max_distance, options.value_dim))) {}

Attended RelativeShaw::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                               const Keep& keep, const Want& want) const {
  spec::Score score = spec::scaled_dot();
  if (rel_k_.defined()) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
    score = score | spec::relative_table(linear(q, rel_k_) * scale, options_.query_offset);
  }
  const bool values = rel_v_.defined() && want.has(Want::output);
  const Want all =
      values ? want | Want::distance_sums(options_.max_distance, options_.query_offset) : want;
  Attended looked = attend(q, k, v, score, keep, spec::softmax(), all);
  if (values) {
    const Tensor by_distance = linear(looked.distance_sums, rel_v_.transpose(0, 1));
    looked.output = looked.output + by_distance;
  }
  return looked;
}

RelativeShaw::Met RelativeShaw::met(const Tensor& k, const Tensor& v, const Query& at) const {
  const std::int64_t keys = k.size(0);
  const std::int64_t m = options_.max_distance;
  const std::int64_t from = at.query + options_.query_offset.value_or(keys - at.queries);
  std::vector<std::int64_t> distances;
  distances.reserve(static_cast<std::size_t>(keys));
  for (std::int64_t j = 0; j < keys; ++j) distances.push_back(std::clamp(j - from, -m, m) + m);
  const Tensor chosen = Tensor::from(distances, {keys});
  return {rel_k_.defined() ? k + embedding(rel_k_, chosen) : k,
          rel_v_.defined() ? v + embedding(rel_v_, chosen) : v};
}

}  // namespace attn::nn
