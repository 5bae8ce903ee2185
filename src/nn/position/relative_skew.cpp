#include "attn/nn/position/relative_skew.hpp"

#include <cmath>
#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {
namespace {

Tensor distance_vectors(const RelativeSkewOptions& options) {
  const std::int64_t rows =
      options.reach == Reach::past ? options.length : 2 * options.length - 1;
  const Shape shape =
      options.heads > 0 ? Shape{options.heads, rows, options.dim} : Shape{rows, options.dim};
  const double bound = std::sqrt(6.0 / static_cast<double>(rows + options.dim));
  return uniform_within(shape, bound);
}

/// Boolean [length, length], true on and below the diagonal.
Tensor lower_triangle(std::int64_t length) {
  const Tensor ends = Tensor::arange(length);
  auto* end = ends.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < length; ++i) end[i] = i + 1;
  return length_mask(ends, length);
}

/// A row longer or shorter than the rows it came from moves each line by one place more:
/// [batch, heads, rows, columns] read as [batch, heads, lines, width] from the start.
Tensor refolded(const Tensor& x, std::int64_t lines, std::int64_t width) {
  const Tensor flat = x.reshape({x.size(0), x.size(1), -1});
  return flat.slice(2, 0, lines * width).reshape({x.size(0), x.size(1), lines, width});
}

}  // namespace

RelativeSkew::RelativeSkew(const RelativeSkewOptions& options)
    : options_(options), e_r_(add("E_r", distance_vectors(options))) {}

/// The skew: [.., L, rows], by distance, becomes [.., L, L], by key.
Tensor RelativeSkew::placed(const Tensor& by_distance) const {
  const std::int64_t length = options_.length;
  if (options_.reach == Reach::past) {
    const Tensor moved = refolded(pad(by_distance, 3, 1, 0), length + 1, length);
    // What slid in above the diagonal belongs to other rows.
    return keep_where(moved.slice(2, 1, length + 1), lower_triangle(length).to(moved.device()));
  }
  const Tensor moved = refolded(pad(by_distance, 3, 0, 1), length, 2 * length - 1);
  return moved.slice(3, length - 1, 2 * length - 1);
}

RelativeSkew::Result RelativeSkew::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const Keep& keep, const Want& want) const {
  if (q.rank() != 4 || q.size(2) != options_.length || k.size(2) != options_.length)
    fail("attn::nn::RelativeSkew: q ", q.text(), " and k ", k.text(), "; [batch, heads, ",
         options_.length, ", dim] is accepted");
  const Tensor s_rel = placed(matmul(q, e_r_.transpose(-1, -2)));
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(3)));
  const Keep seen = options_.reach == Reach::past ? spec::causal() && keep : keep;
  return {attend(q, k, v, spec::dot(scale) | spec::bias(s_rel * scale), seen, spec::softmax(),
                 want),
          s_rel};
}

}  // namespace attn::nn
