#include "attn/tensor/ops/conv.hpp"

#include <cstddef>
#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/gemm/conv.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

/// x, weight and bias of one call, all of one real type.
void check(const Tensor& x, const Tensor& weight, const Tensor& bias, int rank,
           const char* where) {
  op::require_real(x, where, "x");
  op::require_real(weight, where, "weight");
  op::require_same_kind(x, weight, where);
  if (x.rank() != rank || weight.rank() != rank || x.size(1) != weight.size(1))
    fail(where, ": x is ", x.text(), ", weight is ", weight.text(), "; x [batch, in, ",
         rank == 3 ? "length" : "height, width", "] and weight [out, in, kernel...] of ", rank,
         " axes are accepted");
  if (!bias.defined()) return;
  op::require_same_kind(x, bias, where);
  op::require_shape(bias, {weight.size(0)}, where, "bias");
}

/// Throws unless the kernel fits into what there is to see; nothing to see is fine.
void check_places(const gemm::ConvShape& shape, const Tensor& x, const Tensor& weight,
                  const char* where) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t before = shape.pad_before[axis];
    const std::int64_t after = shape.pad_after[axis];
    if (shape.kernel[axis] < 1 || shape.stride[axis] < 1 || shape.dilation[axis] < 1 ||
        before < 0 || after < 0)
      fail(where, ": weight ", weight.text(), ", stride ", shape.stride[axis], ", dilation ",
           shape.dilation[axis], ", pads ", before, " and ", after,
           "; kernel, stride and dilation of 1 and more, pads of 0 and more are accepted");
    const std::int64_t span = shape.dilation[axis] * (shape.kernel[axis] - 1) + 1;
    const std::int64_t padded = shape.size[axis] + before + after;
    if (shape.size[axis] > 0 && padded < span)
      fail(where, ": the kernel of ", weight.text(), " spans ", span, " places, x ", x.text(),
           " has ", padded, " with its pads; as many or more are accepted");
  }
}

/// What the kernel sees at each place, [in * kernel, batch * places], on the GPU and the tape.
Tensor unfolded(const Tensor& x, const gemm::ConvShape& shape) {
  const auto [height, width] = shape.out_size();
  const Tensor columns = Tensor::empty(
      {shape.in * shape.kernel[0] * shape.kernel[1], shape.batch * height * width}, x.dtype(),
      Device::gpu);
  gpu::unfold(shape, x.detach().contiguous(), columns);
  return record("unfolded", {x}, columns,
                [shape, from = x.shape()](const Gradients& grads, const Needs&) -> Gradients {
                  const Tensor dx = Tensor::empty(from, grads[0].dtype(), Device::gpu);
                  gpu::fold(shape, grads[0].contiguous(), dx);
                  return {dx};
                });
}

/// One product of the kernel with all that it sees.
Tensor convolve_gpu(const Tensor& x, const Tensor& weight, const Tensor& bias,
                    const gemm::ConvShape& shape, const Shape& out_shape) {
  const auto [height, width] = shape.out_size();
  const Tensor rows = weight.reshape({shape.out, weight.numel() / shape.out});
  Tensor y = matmul(rows, unfolded(x, shape));
  if (bias.defined()) y = y + bias.unsqueeze(1);
  return y.reshape({shape.out, shape.batch, height * width}).transpose(0, 1).reshape(out_shape);
}

/// y [batch, out, height, width], whatever the axes of x are called.
Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias,
                const gemm::ConvShape& shape, const Shape& out_shape, const char* where) {
  if (op::on_gpu(x)) return convolve_gpu(x, weight, bias, shape, out_shape);
  const Tensor numbers = x.detach().contiguous();
  const Tensor kernel = weight.detach().contiguous();
  const Tensor added = op::packed_or_none(bias);
  return op::dispatch_real(x.dtype(), where, [&](auto zero) {
    using T = decltype(zero);
    const Tensor y = Tensor::empty(out_shape, x.dtype());
    gemm::conv_forward<T>(shape, numbers.data<T>(), kernel.data<T>(),
                          op::numbers_or_null<T>(added), y.mutable_data<T>());
    return record(where, {x, weight, bias}, y,
                  [shape, saved_x = Saved(numbers), saved_weight = Saved(kernel)](
                      const Gradients& grads, const Needs& needs) -> Gradients {
                    const Tensor grad = grads[0].contiguous();
                    const T* g = grad.data<T>();
                    Gradients down(3);
                    if (needs[0]) {
                      down[0] = Tensor::empty(saved_x.get().shape(), grad.dtype());
                      gemm::conv_backward_data<T>(shape, g, saved_weight.get().data<T>(),
                                                  down[0].mutable_data<T>());
                    }
                    if (!needs[1] && !needs[2]) return down;
                    down[1] = Tensor::empty(saved_weight.get().shape(), grad.dtype());
                    down[2] = Tensor::empty({shape.out}, grad.dtype());
                    gemm::conv_backward_weights<T>(shape, saved_x.get().data<T>(), g,
                                                   down[1].mutable_data<T>(),
                                                   down[2].mutable_data<T>());
                    return down;
                  });
  });
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv1dOptions& options) {
  constexpr const char* kWhere = "attn::conv1d";
  check(x, weight, bias, 3, kWhere);
  if (op::is_half(x.dtype()))
    return conv1d(op::widened(x), op::widened(weight), op::widened(bias), options)
        .to(x.dtype());
  const gemm::ConvShape shape{.batch = x.size(0),
                              .in = x.size(1),
                              .out = weight.size(0),
                              .size = {1, x.size(2)},
                              .kernel = {1, weight.size(2)},
                              .stride = {1, options.stride},
                              .pad_before = {0, options.pad_before},
                              .pad_after = {0, options.pad_after},
                              .dilation = {1, options.dilation}};
  check_places(shape, x, weight, kWhere);
  return convolve(x, weight, bias, shape, {shape.batch, shape.out, shape.out_size()[1]},
                  kWhere);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv2dOptions& options) {
  constexpr const char* kWhere = "attn::conv2d";
  check(x, weight, bias, 4, kWhere);
  if (op::is_half(x.dtype()))
    return conv2d(op::widened(x), op::widened(weight), op::widened(bias), options)
        .to(x.dtype());
  const gemm::ConvShape shape{.batch = x.size(0),
                              .in = x.size(1),
                              .out = weight.size(0),
                              .size = {x.size(2), x.size(3)},
                              .kernel = {weight.size(2), weight.size(3)},
                              .stride = options.stride,
                              .pad_before = options.pad,
                              .pad_after = options.pad,
                              .dilation = options.dilation};
  check_places(shape, x, weight, kWhere);
  const auto [height, width] = shape.out_size();
  return convolve(x, weight, bias, shape, {shape.batch, shape.out, height, width}, kWhere);
}

}  // namespace attn
