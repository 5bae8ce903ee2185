#include "attn/models/picture_encoder.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/conv.hpp"
#include "attn/tensor/ops/conv.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"

namespace attn::models {
namespace {

constexpr std::int64_t kLayoutChannels = 8;

PictureEncoderOptions checked_encoder(const PictureEncoderOptions& options) {
  if (options.side < 8 || options.side % 8 != 0 || options.channels < 3 ||
      options.channels % 3 != 0)
    fail("attn::models::PictureEncoder: side ", options.side, " and channels ",
         options.channels, "; multiples of 8 and of 3 are accepted");
  return options;
}

/// The first weights keep the size of what passes through a ReLU: sqrt(6) times those that a
/// convolution begins with. He et al., 2015, arXiv:1502.01852.
nn::Conv2d conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
  nn::Conv2d made({.in = in, .out = out, .kernel = kernel},
                  {.stride = {stride, stride}, .pad = {kernel / 2, kernel / 2}});
  const NoGrad off_the_tape;
  Tensor weight = nn::find_tensor(made.named_parameters(), "weight");
  weight.copy_from(weight * std::sqrt(6.0));
  return made;
}

/// x and y from -1 to 1: [batch, 2, grid, grid], beside `x`.
Tensor coordinates(std::int64_t batch, std::int64_t grid, const Tensor& x) {
  std::vector<float> numbers(static_cast<std::size_t>(2 * grid * grid));
  const auto at = [grid](std::int64_t i) {
    return (2.0f * static_cast<float>(i) + 1.0f) / static_cast<float>(grid) - 1.0f;
  };
  for (std::int64_t i = 0; i < grid * grid; ++i) {
    numbers[static_cast<std::size_t>(i)] = at(i % grid);
    numbers[static_cast<std::size_t>(grid * grid + i)] = at(i / grid);
  }
  return Tensor::from(numbers, {1, 2, grid, grid})
      .to(x.dtype())
      .to(x.device())
      .expand({batch, 2, grid, grid});
}

}  // namespace

PictureEncoder::PictureEncoder(const PictureEncoderOptions& options)
    : options_(checked_encoder(options)),
      first_(add("first", conv(1, options.channels / 3, 5, 2))),
      second_(add("second", conv(options.channels / 3, 2 * options.channels / 3, 3, 2))),
      third_(add("third", conv(2 * options.channels / 3 + 2, options.channels, 3, 1))),
      fourth_(add("fourth", conv(options.channels, options.channels, 3, 1))),
      layout_(add("layout",
                  nn::Conv2d({.in = options.channels, .out = kLayoutChannels, .kernel = 1}))) {}

std::int64_t PictureEncoder::layout_size() const {
  return kLayoutChannels * (grid() / 2) * (grid() / 2);
}

EncodedPicture PictureEncoder::operator()(const Tensor& pictures) const {
  if (pictures.rank() != 3 || pictures.size(1) != options_.side ||
      pictures.size(2) != options_.side)
    fail("attn::models::PictureEncoder: pictures ", pictures.text(), "; [batch, ",
         options_.side, ", ", options_.side, "] is accepted");
  const std::int64_t batch = pictures.size(0);
  Tensor x = relu(second_(relu(first_(pictures.unsqueeze(1)))));
  x = relu(third_(concat({x, coordinates(batch, grid(), x)}, 1)));
  x = relu(fourth_(x));
  const Tensor layout = max_pool_by_two(relu(layout_(x)), 2);
  return {x.flatten(2, 3).transpose(1, 2).contiguous(), layout.reshape({batch, layout_size()})};
}

}  // namespace attn::models
