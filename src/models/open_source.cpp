#include "models/open_source.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/models/steering.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

OpenSource::OpenSource(const DecoderSource& whole, const Steering& steering, std::int64_t step)
    : open_(whole), extent_(whole.values.size(1)) {
  const Tensor flags = steering.open(step, 1, extent_);
  std::vector<std::int64_t> places;
  for (std::int64_t place = 0; place < extent_; ++place)
    if (flags.data<bool>()[place]) places.push_back(place);
  if (places.size() == static_cast<std::size_t>(extent_)) return;

  places_ = Tensor::from(places, {static_cast<std::int64_t>(places.size())});
  open_.keys = nn::select_rows(whole.keys, 1, places_);
  open_.values = nn::select_rows(whole.values, 1, places_);
  // Places rise, so those within a length come first here too.
  const Tensor lengths = whole.lengths.contiguous();
  std::vector<std::int64_t> within;
  within.reserve(static_cast<std::size_t>(lengths.numel()));
  for (std::int64_t row = 0; row < lengths.numel(); ++row)
    within.push_back(
        std::lower_bound(places.begin(), places.end(), lengths.data<std::int64_t>()[row]) -
        places.begin());
  open_.lengths = Tensor::from(within, {lengths.numel()});
}

Tensor OpenSource::spread(const Tensor& weights) const {
  if (!places_.defined()) return weights;
  return scatter_add(
      weights, 2,
      places_.to(weights.device()).reshape({1, 1, places_.size(0)}).expand(weights.shape()),
      extent_);
}

}  // namespace attn::models
