#include "nn/hard/location_mask.hpp"

#include <cstdint>
#include <limits>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/padding.hpp"

namespace attn::nn::hard {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

}  // namespace

Tensor locations_kept(const Tensor& scores, const Tensor& lengths, const Tensor& target_lens) {
  const std::int64_t steps = scores.size(1);
  const std::int64_t locations = scores.size(2);
  const Tensor here =
      length_mask(padding::or_full(lengths, scores.size(0), locations), locations);
  const Tensor now = length_mask(padding::or_full(target_lens, scores.size(0), steps), steps);
  const Tensor keep = logical_and(here.unsqueeze(1), now.unsqueeze(2));
  const Tensor wide = scores.detach().to(DType::f64).contiguous();
  const auto* score = wide.data<double>();
  bool* flags = keep.mutable_data<bool>();
  for (std::int64_t i = 0; i < keep.numel(); ++i) flags[i] = flags[i] && score[i] != kMasked;
  return keep;
}

Tensor only_kept(const Tensor& scores, const Tensor& keep) {
  const std::int64_t locations = scores.size(2);
  const std::int64_t rows = locations == 0 ? 0 : scores.numel() / locations;
  const Tensor filler = Tensor::zeros({scores.size(0), scores.size(1), 1}, DType::f64);
  const bool* flags = keep.data<bool>();
  auto* fill = filler.mutable_data<double>();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < locations; ++i)
      if (flags[row * locations + i]) fill[row] = kMasked;
  return where(keep, scores, filler.to(scores.dtype()));
}

}  // namespace attn::nn::hard
