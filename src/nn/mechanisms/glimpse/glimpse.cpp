#include "attn/nn/mechanisms/glimpse/glimpse.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/glimpse/retina.hpp"
#include "tensor/op.hpp"

namespace attn::nn {
namespace {

constexpr const char* kWhere = "attn::nn::glimpse";
constexpr double kFarthest = 1e6;  ///< in half images

/// The centre pixels, found in double: floor must not depend on the element type. i64 [batch,
/// 2]: x, y of each image.
Tensor centres_of(const Tensor& location, std::int64_t width, std::int64_t height) {
  const auto positions = location.detach().to(DType::f64).to_vector<double>();
  std::vector<std::int64_t> centres;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto size = static_cast<double>(i % 2 == 0 ? width : height);
    // A draw may leave the image, where zeros are seen; farther away nothing changes.
    if (!(std::fabs(positions[i]) <= kFarthest))
      fail(kWhere, ": the location ", positions[i],
           "; -1 to 1, or somewhat outside, is accepted");
    centres.push_back(static_cast<std::int64_t>(std::floor((positions[i] + 1.0) / 2.0 * size)));
  }
  return Tensor::from(centres, {location.size(0), 2}).to(location.device());
}

Retina checked(const Tensor& image, const Tensor& location, const GlimpseOptions& options) {
  if (image.rank() != 4 || location.rank() != 2 || location.size(1) != 2 ||
      location.size(0) != image.size(0))
    fail(kWhere, ": image ", image.text(), " and location ", location.text(),
         "; [batch, channels, height, width] and [batch, 2] are accepted");
  if (options.patch_size < 1 || options.num_scales < 1 || options.scale < 1)
    fail(kWhere, ": patch_size ", options.patch_size, ", num_scales ", options.num_scales,
         ", scale ", options.scale, "; at least 1 each is accepted");
  return {image.size(0),      image.size(1),      image.size(2), image.size(3),
          options.patch_size, options.num_scales, options.scale};
}

/// to[i] = number(from, centres, i) for all of `to`, on the CPU.
template <class Number>
void fill(const Tensor& from, const Tensor& centres, const Tensor& to, const Number& number) {
  op::dispatch_real(from.dtype(), kWhere, [&]<class T>(T) {
    const auto* centre = centres.data<std::int64_t>();
    T* numbers = to.mutable_data<T>();
    for (std::int64_t i = 0; i < to.numel(); ++i)
      numbers[i] = number(from.data<T>(), centre, i);
  });
}

void look(const Retina& retina, const Tensor& image, const Tensor& centres,
          const Tensor& patches) {
  if (op::on_gpu(image)) return gpu::glimpse(retina, image, centres, patches);
  fill(image, centres, patches, [&](auto... at) { return retina.look(at...); });
}

void spread(const Retina& retina, const Tensor& grad, const Tensor& centres,
            const Tensor& down) {
  if (op::on_gpu(grad)) return gpu::glimpse_backward(retina, grad, centres, down);
  fill(grad, centres, down, [&](auto... at) { return retina.spread(at...); });
}

Tensor seen(const Tensor& image, const Retina& retina, const Tensor& centres) {
  const Tensor patches =
      Tensor::empty({retina.batch, retina.scales, retina.channels, retina.patch, retina.patch},
                    image.dtype(), image.device());
  look(retina, image.detach().contiguous(), centres, patches);
  return record("glimpse", {image}, patches,
                [retina, centres, shape = image.shape()](const Gradients& grads,
                                                         const Needs&) -> Gradients {
                  const Tensor grad = grads[0].contiguous();
                  const Tensor down = Tensor::empty(shape, grad.dtype(), grad.device());
                  spread(retina, grad, centres, down);
                  return {down};
                });
}

}  // namespace

Tensor glimpse(const Tensor& image, const Tensor& location, const GlimpseOptions& options) {
  const Retina retina = checked(image, location, options);
  const Tensor centres = centres_of(location, image.size(3), image.size(2)).to(image.device());
  if (!op::is_half(image.dtype())) return seen(image, retina, centres);
  return seen(image.to(DType::f32), retina, centres).to(image.dtype());
}

}  // namespace attn::nn
