// A text looks at the cells of an image, or at its boxes.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/vision/box_attention.hpp"
#include "attn/nn/mechanisms/vision/spatial_attention.hpp"
#include "attn/nn/mechanisms/vision/text_score.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/spec/score.hpp"
#include "attn/tensor/tensor.hpp"

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

TextScored::TextScored(const TextScoreOptions& options) : kind_(options.kind) {
  if (kind_ == TextScoreKind::general) {
    w_a_ = add("W_a.weight",
               fan_in_uniform({options.text_dim, options.image_dim}, options.image_dim));
    return;
  }
  const auto hidden = options.hidden_dim;
  if (hidden < 1)
    fail("attn::nn::TextScored: hidden_dim ", hidden,
         " of the additive score; at least 1 is accepted");
  w_v_ = add("W_v.weight", fan_in_uniform({hidden, options.image_dim}, options.image_dim));
  w_t_ = add("W_t.weight", fan_in_uniform({hidden, options.text_dim}, options.text_dim));
  b_t_ = add("W_t.bias", fan_in_uniform({hidden}, options.text_dim));
  w_ = add("w", fan_in_uniform({hidden}, hidden));
}

Tensor TextScored::queries(const Tensor& text) const {
  // The text is projected, not the parts: there is one of it and many of them.
  return kind_ == TextScoreKind::general ? matmul(text, w_a_) : linear(text, w_t_, b_t_);
}

Tensor TextScored::keys(const Tensor& parts) const {
  return kind_ == TextScoreKind::general ? parts : linear(parts, w_v_);
}

spec::Score TextScored::score() const {
  return kind_ == TextScoreKind::general ? spec::dot() : spec::additive(w_);
}

SpatialLook SpatialAttention::forward(const Tensor& image, const Tensor& text,
                                      const Tensor& mask, const Want& want) const {
  if (image.rank() != 4 || text.rank() != 2)
    fail("attn::nn::SpatialAttention: image ", image.text(), " and text ", text.text(),
         "; [batch, channels, height, width] and [batch, text_dim] are accepted");
  const std::int64_t batch = image.size(0);
  const std::int64_t height = image.size(2);
  const std::int64_t width = image.size(3);
  Tensor cells = image.flatten(2, 3).transpose(1, 2);
  Mask keep;
  if (mask.defined()) {
    const Tensor flags = mask.contiguous().reshape({batch, 1, height * width});
    cells = keep_where(cells, flags.transpose(1, 2));
    keep = spec::dense(flags);
  }
  const Attended looked = attend(queries(text).unsqueeze(1), keys(cells), cells, score(), keep,
                                 spec::softmax(), want | Want::output);
  return {looked.weights.defined() ? looked.weights.reshape({batch, height, width}) : Tensor(),
          looked.output.squeeze(1)};
}

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
