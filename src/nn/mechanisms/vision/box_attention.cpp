#include "attn/nn/mechanisms/vision/box_attention.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {
namespace {

/// The image of every box: i64 [1, boxes].
Tensor images_of(const Tensor& offsets, std::int64_t batch, std::int64_t boxes) {
  constexpr const char* kWhere = "attn::nn::BoxAttention";
  if (offsets.dtype() != DType::i64 || offsets.rank() != 1 || offsets.size(0) != batch + 1)
    fail(kWhere, ": offsets ", offsets.text(), " for ", batch, " images; i64 [", batch + 1,
         "] is accepted");
  const auto ends = offsets.to_vector<std::int64_t>();
  if (ends.front() != 0 || ends.back() != boxes)
    fail(kWhere, ": offsets from ", ends.front(), " to ", ends.back(), "; 0 to ", boxes,
         ", the number of boxes, is accepted");
  std::vector<std::int64_t> images;
  for (std::size_t b = 0; b + 1 < ends.size(); ++b) {
    if (ends[b + 1] < ends[b])
      fail(kWhere, ": offset ", ends[b + 1], " behind ", ends[b],
           "; numbers that never fall are accepted");
    images.resize(static_cast<std::size_t>(ends[b + 1]), static_cast<std::int64_t>(b));
  }
  return Tensor::from(images, {1, boxes});
}

}  // namespace

BoxLook BoxAttention::forward(const Tensor& boxes, const Tensor& offsets, const Tensor& text,
                              const Want& want) const {
  if (boxes.rank() != 2 || text.rank() != 2)
    fail("attn::nn::BoxAttention: boxes ", boxes.text(), " and text ", text.text(),
         "; [boxes, channels] and [batch, text_dim] are accepted");
  const std::int64_t batch = text.size(0);
  const Tensor images = images_of(offsets, batch, boxes.size(0));
  const Tensor own = Tensor::arange(batch).unsqueeze(0);
  const Tensor parts = boxes.unsqueeze(0);
  // Each box is looked at by its own image alone: the sums of columns are the weights.
  const bool weights = want.has(Want::weights);
  const Attended looked = attend(queries(text).unsqueeze(0), keys(parts), parts, score(),
                                 spec::documents(own, images), spec::softmax(),
                                 weights ? Want::output | Want::column_sums : Want::output);
  return {weights ? looked.column_sums.squeeze(0) : Tensor(), looked.output.squeeze(0)};
}

}  // namespace attn::nn
