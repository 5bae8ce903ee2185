// Attention that knows how far a key is: Shaw's vectors, the Music Transformer's, T5's bias.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/nn/position/relative_skew.hpp"
#include "attn/nn/position/t5_bias.hpp"
#include "attn/score/t5_buckets.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {
namespace {

Tensor distance_vectors(std::int64_t max_distance, std::int64_t dim) {
  if (max_distance < 0)
    fail("attn::nn::RelativeShaw: max_distance ", max_distance, "; 0 and more are accepted");
  return dim > 0 ? glorot_uniform({2 * max_distance + 1, dim}) : Tensor();
}

Tensor distance_vectors(const RelativeSkewOptions& options) {
  const std::int64_t rows =
      options.reach == Reach::past ? options.length : 2 * options.length - 1;
  const Shape shape =
      options.heads > 0 ? Shape{options.heads, rows, options.dim} : Shape{rows, options.dim};
  const double bound = std::sqrt(6.0 / static_cast<double>(rows + options.dim));
  return uniform_within(shape, bound);
}

/// Boolean [queries, keys], true up to each query's own place; the last query's is the last
/// key.
Tensor up_to_each(std::int64_t queries, std::int64_t keys) {
  const Tensor ends = Tensor::arange(queries);
  auto* end = ends.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < queries; ++i) end[i] = keys - queries + i + 1;
  return length_mask(ends, keys);
}

/// A row longer or shorter than the rows it came from moves each line by one place more:
/// [batch, heads, rows, columns] read as [batch, heads, lines, width] from the start.
Tensor refolded(const Tensor& x, std::int64_t lines, std::int64_t width) {
  const Tensor flat = x.reshape({x.size(0), x.size(1), -1});
  return flat.slice(2, 0, lines * width).reshape({x.size(0), x.size(1), lines, width});
}

}  // namespace

RelativeShaw::RelativeShaw(const RelativeShawOptions& options)
    : options_(options),
      rel_k_(add("rel_k", distance_vectors(options.max_distance, options.key_dim))),
      rel_v_(add("rel_v", distance_vectors(options.max_distance, options.value_dim))) {}

Attended RelativeShaw::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                               const Mask& keep, const Want& want) const {
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

RelativeSkew::RelativeSkew(const RelativeSkewOptions& options)
    : options_(options), e_r_(add("E_r", distance_vectors(options))) {}

/// The skew: by distance, [.., queries, rows], becomes by key, [.., queries, keys].
Tensor RelativeSkew::placed(const Tensor& by_distance) const {
  const std::int64_t queries = by_distance.size(2);
  const std::int64_t keys = by_distance.size(3);
  if (options_.reach == Reach::past) {
    // Rows that are one longer, read from the end of the first: each begins one place later.
    const Tensor flat =
        pad(by_distance, 3, 1, 0).reshape({by_distance.size(0), by_distance.size(1), -1});
    const Tensor moved =
        flat.slice(2, queries, queries * (keys + 1))
            .reshape({by_distance.size(0), by_distance.size(1), queries, keys});
    // What slid in above the diagonal belongs to other rows.
    return keep_where(moved, up_to_each(queries, keys).to(moved.device()));
  }
  const std::int64_t length = options_.length;
  const Tensor moved = refolded(pad(by_distance, 3, 0, 1), length, 2 * length - 1);
  return moved.slice(3, length - 1, 2 * length - 1);
}

RelativeSkew::Result RelativeSkew::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const Mask& keep, const Want& want) const {
  const bool past = options_.reach == Reach::past;
  const bool fits =
      q.rank() == 4 && (past ? q.size(2) <= k.size(2) && k.size(2) <= options_.length
                             : q.size(2) == options_.length && k.size(2) == options_.length);
  if (!fits)
    fail("attn::nn::RelativeSkew: q ", q.text(), " and k ", k.text(), "; [batch, heads, ",
         past ? "at most " : "", options_.length, ", dim] is accepted");
  // The last rows are the nearest distances.
  const std::int64_t rows = e_r_.size(-2);
  const Tensor nearest = past ? e_r_.slice(e_r_.rank() - 2, rows - k.size(2), rows) : e_r_;
  const Tensor s_rel = placed(matmul(q, nearest.transpose(-1, -2)));
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(3)));
  const Mask seen = past ? spec::causal() && keep : keep;
  return {attend(q, k, v, spec::dot(scale) | spec::bias(s_rel * scale), seen, spec::softmax(),
                 want),
          s_rel};
}

T5Bias::T5Bias(const T5BiasOptions& options)
    : options_(options),
      table_(add("relative_attention_bias",
                 Embedding({.rows = options.buckets, .features = options.heads}))) {}

Attended T5Bias::forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& keep,
                         const Want& want) const {
  const spec::T5Options positions{.direction = options_.direction,
                                  .max_distance = options_.max_distance,
                                  .offset = options_.query_offset};
  return attend(q, k, v, spec::dot(options_.scale) | spec::t5_bias(table_.weight(), positions),
                keep, spec::softmax(), want);
}

Tensor T5Bias::buckets(std::int64_t queries, std::int64_t keys) const {
  const Tensor positions = Tensor::empty({queries, keys}, DType::i64);
  auto* to = positions.mutable_data<std::int64_t>();
  const std::int64_t offset = options_.query_offset.value_or(keys - queries);
  for (std::int64_t i = 0; i < queries; ++i)
    for (std::int64_t j = 0; j < keys; ++j)
      *to++ = score::t5_bucket(static_cast<int>(j - (i + offset)),
                               static_cast<int>(options_.buckets),
                               static_cast<int>(options_.max_distance), options_.direction);
  return positions;
}

Tensor T5Bias::bias(std::int64_t queries, std::int64_t keys) const {
  return table_(buckets(queries, keys).to(table_.weight().device())).permute({2, 0, 1});
}

}  // namespace attn::nn
