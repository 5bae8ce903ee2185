#include "nn/mechanisms/hard/location_mask.hpp"

#include <cstdint>
#include <limits>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/padding.hpp"

namespace attn::nn::hard {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

}  // namespace

Tensor locations_kept(const Tensor& scores, const Tensor& lengths, const Tensor& target_lens) {
  const std::int64_t steps = scores.size(1);
  const std::int64_t locations = scores.size(2);
  const auto first = [&](const Tensor& given, std::int64_t extent) {
    return padding::first_places(padding::or_full(given, scores.size(0), extent), extent,
                                 scores.device());
  };
  const Tensor keep = logical_and(first(lengths, locations).unsqueeze(1),
                                  first(target_lens, steps).unsqueeze(2));
  return logical_and(keep, padding::is_score(scores));
}

Tensor only_kept(const Tensor& scores, const Tensor& keep) {
  if (scores.size(2) == 0) return scores;
  // A row without any is one of zeros.
  const Tensor none = logical_not(max(keep.to(DType::f64), 2).values.to(DType::boolean));
  const Tensor zero =
      Tensor::zeros({scores.size(0), scores.size(1)}, scores.dtype(), scores.device());
  return where(keep, scores, keep_where(zero, none, kMasked).unsqueeze(2));
}

}  // namespace attn::nn::hard
