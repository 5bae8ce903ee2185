#include "attn/nn/glimpse/glimpse.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

constexpr const char* kWhere = "attn::nn::glimpse";
constexpr double kFarthest = 1e6;  ///< in half images

/// The sizes of a call, and the pixels each cell of a patch averages.
struct Retina {
  std::int64_t batch, channels, height, width;
  GlimpseOptions options;
  std::vector<std::int64_t> centres;  ///< x, y of each image

  /// Calls visit(cell of the result, first and last pixel by axis, 1 / pixels of the block).
  /// Pixels are clipped to the image; outside there are zeros, which still count.
  template <class Visit>
  void each_cell(const Visit& visit) const {
    std::int64_t cell = 0;
    for (std::int64_t b = 0; b < batch; ++b) {
      std::int64_t block = 1;
      for (std::int64_t s = 0; s < options.num_scales; ++s, block *= options.scale) {
        const std::int64_t side = options.patch_size * block;
        const std::int64_t left = centres[static_cast<std::size_t>(2 * b)] - side / 2;
        const std::int64_t top = centres[static_cast<std::size_t>(2 * b + 1)] - side / 2;
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t y = 0; y < options.patch_size; ++y)
            for (std::int64_t x = 0; x < options.patch_size; ++x, ++cell)
              visit(cell, b * channels + c, top + y * block, left + x * block, block);
      }
    }
  }

  /// Calls visit(pixel) for those of a block that lie in the image.
  template <class Visit>
  void each_pixel(std::int64_t plane, std::int64_t top, std::int64_t left, std::int64_t block,
                  const Visit& visit) const {
    const std::int64_t x_end = std::min(width, left + block);
    const std::int64_t y_end = std::min(height, top + block);
    for (std::int64_t y = std::max<std::int64_t>(0, top); y < y_end; ++y)
      for (std::int64_t x = std::max<std::int64_t>(0, left); x < x_end; ++x)
        visit((plane * height + y) * width + x);
  }

  Shape result_shape() const {
    return {batch, options.num_scales, channels, options.patch_size, options.patch_size};
  }
};

template <class T>
void look(const Retina& retina, const T* image, T* patches) {
  retina.each_cell([&](std::int64_t cell, std::int64_t plane, std::int64_t top,
                       std::int64_t left, std::int64_t block) {
    double total = 0.0;
    retina.each_pixel(plane, top, left, block,
                      [&](std::int64_t pixel) { total += static_cast<double>(image[pixel]); });
    patches[cell] = static_cast<T>(total / static_cast<double>(block * block));
  });
}

template <class T>
void spread(const Retina& retina, const T* patches, T* image) {
  retina.each_cell([&](std::int64_t cell, std::int64_t plane, std::int64_t top,
                       std::int64_t left, std::int64_t block) {
    const T share = patches[cell] / static_cast<T>(block * block);
    retina.each_pixel(plane, top, left, block,
                      [&](std::int64_t pixel) { image[pixel] += share; });
  });
}

/// The centre pixels, found in double: floor must not depend on the element type.
std::vector<std::int64_t> centres_of(const Tensor& location, std::int64_t width,
                                     std::int64_t height) {
  const auto places = location.detach().to(DType::f64).to_vector<double>();
  std::vector<std::int64_t> centres;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto size = static_cast<double>(i % 2 == 0 ? width : height);
    // A draw may leave the image, where zeros are seen; farther away nothing changes.
    if (!(std::fabs(places[i]) <= kFarthest))
      fail(kWhere, ": the location ", places[i], "; -1 to 1, or somewhat outside, is accepted");
    centres.push_back(static_cast<std::int64_t>(std::floor((places[i] + 1.0) / 2.0 * size)));
  }
  return centres;
}

Retina checked(const Tensor& image, const Tensor& location, const GlimpseOptions& options) {
  if (image.rank() != 4 || location.rank() != 2 || location.size(1) != 2 ||
      location.size(0) != image.size(0))
    fail(kWhere, ": image ", image.text(), " and location ", location.text(),
         "; [batch, channels, height, width] and [batch, 2] are accepted");
  if (options.patch_size < 1 || options.num_scales < 1 || options.scale < 1)
    fail(kWhere, ": patch_size ", options.patch_size, ", num_scales ", options.num_scales,
         ", scale ", options.scale, "; at least 1 each is accepted");
  return {image.size(0), image.size(1), image.size(2),
          image.size(3), options,       centres_of(location, image.size(3), image.size(2))};
}

template <class T>
Tensor glimpse_in(const Tensor& image, const Retina& retina) {
  const Tensor packed = image.detach().contiguous();
  const Tensor patches = Tensor::empty(retina.result_shape(), image.dtype());
  look(retina, packed.data<T>(), patches.mutable_data<T>());
  return record(
      "glimpse", {image}, patches,
      [retina, shape = image.shape()](const Gradients& grads, const Needs&) -> Gradients {
        const Tensor grad = grads[0].contiguous();
        const Tensor down = Tensor::zeros(shape, grad.dtype());
        spread(retina, grad.data<T>(), down.mutable_data<T>());
        return {down};
      });
}

}  // namespace

Tensor glimpse(const Tensor& image, const Tensor& location, const GlimpseOptions& options) {
  const Retina retina = checked(image, location, options);
  if (image.dtype() == DType::f64) return glimpse_in<double>(image, retina);
  if (image.dtype() == DType::f32) return glimpse_in<float>(image, retina);
  return glimpse_in<float>(image.to(DType::f32), retina).to(image.dtype());
}

}  // namespace attn::nn
