#include "tasks/answer/picture_grid.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/conv.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/ops/conv.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"

namespace attn::tasks::vqa {
namespace {

/// The first weights keep the size of what passes through a ReLU. He et al., 2015,
/// arXiv:1502.01852.
nn::Conv2d conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
  nn::Conv2d made({.in = in, .out = out, .kernel = kernel},
                  {.stride = {stride, stride}, .pad = {kernel / 2, kernel / 2}});
  const NoGrad off_the_tape;
  Tensor weight = nn::find_tensor(made.named_parameters(), "weight");
  weight.copy_from(weight * std::sqrt(6.0));
  return made;
}

/// Across and down from -1 to 1: [batch, 2, side, side], beside `x`.
Tensor coordinates(const Tensor& x) {
  const std::int64_t side = x.size(2);
  std::vector<float> numbers(static_cast<std::size_t>(2 * side * side));
  for (std::int64_t i = 0; i < side * side; ++i) {
    const auto at = [side](std::int64_t place) {
      return (2.0f * static_cast<float>(place) + 1.0f) / static_cast<float>(side) - 1.0f;
    };
    numbers[static_cast<std::size_t>(i)] = at(i % side);
    numbers[static_cast<std::size_t>(side * side + i)] = at(i / side);
  }
  return Tensor::from(numbers, {1, 2, side, side})
      .to(x.dtype())
      .to(x.device())
      .expand({x.size(0), 2, side, side});
}

}  // namespace

PictureGrid::PictureGrid(std::int64_t channels, std::int64_t grid)
    : grid_(grid),
      first_(add("first", conv(3, 24, 5, 2))),
      second_(add("second", conv(24, 48, 3, 2))),
      third_(add("third", conv(48 + 2, channels, 3, 1))),
      fourth_(add("fourth", conv(channels, channels, 3, 1))) {
  if (grid != 8 && grid != 16)
    fail("attn::tasks::vqa::PictureGrid: a grid of ", grid, "; 8 and 16 are accepted");
}

Tensor PictureGrid::operator()(const Tensor& pictures) const {
  if (pictures.rank() != 4 || pictures.size(1) != 3 || pictures.size(2) != kSide ||
      pictures.size(3) != kSide)
    fail("attn::tasks::vqa::PictureGrid: pictures ", pictures.text(), "; [batch, 3, ", kSide,
         ", ", kSide, "] is accepted");
  Tensor x = relu(second_(relu(first_(pictures))));
  x = relu(third_(concat({x, coordinates(x)}, 1)));
  if (grid_ == kSide / 8) x = max_pool_by_two(x, 2);
  x = relu(fourth_(x));
  return x.flatten(2, 3).transpose(1, 2).contiguous();
}

}  // namespace attn::tasks::vqa
