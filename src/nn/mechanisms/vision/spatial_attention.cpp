#include "attn/nn/mechanisms/vision/spatial_attention.hpp"

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

SpatialLook SpatialAttention::forward(const Tensor& image, const Tensor& text,
                                      const Tensor& mask, const Want& want) const {
  if (image.rank() != 4 || text.rank() != 2)
    fail("attn::nn::SpatialAttention: image ", image.text(), " and text ", text.text(),
         "; [batch, channels, height, width] and [batch, text_dim] are accepted");
  const std::int64_t batch = image.size(0);
  const std::int64_t height = image.size(2);
  const std::int64_t width = image.size(3);
  Tensor cells = image.flatten(2, 3).transpose(1, 2);
  Keep keep;
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

}  // namespace attn::nn
