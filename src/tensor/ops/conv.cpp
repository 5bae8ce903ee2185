#include "attn/tensor/ops/conv.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/gemm/conv.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
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
  return op::record_one("unfolded", x, columns, [shape, from = x.shape()](const Tensor& grad) {
    const Tensor dx = Tensor::empty(from, grad.dtype(), Device::gpu);
    gpu::fold(shape, grad.contiguous(), dx);
    return dx;
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

template <class T>
Tensor convolve_cpu(const Tensor& x, const Tensor& weight, const Tensor& bias,
                    const gemm::ConvShape& shape, const Shape& out_shape, const char* where) {
  const Tensor numbers = x.detach().contiguous();
  const Tensor kernel = weight.detach().contiguous();
  const Tensor added = op::packed_or_none(bias);
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
}

/// y [batch, out, height, width], whatever the axes of x are called.
Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias,
                const gemm::ConvShape& shape, const Shape& out_shape, const char* where) {
  return op::dispatch_device_and_real(
      x, where,
      [&]<class T>(T) { return convolve_cpu<T>(x, weight, bias, shape, out_shape, where); },
      [&] { return convolve_gpu(x, weight, bias, shape, out_shape); });
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

namespace {

/// The blocks of 2 along the last axes of a packed tensor.
class Blocks {
 public:
  Blocks(const Shape& shape, int first_axis) : out_(shape) {
    for (int axis = first_axis; axis < shape.rank(); ++axis) out_[axis] /= 2;
    row_ = out_[-1];
    const Shape strides = packed_strides(shape);
    for (int axis = shape.rank() - 2; axis >= 0; --axis)
      axes_[count_++] = {out_[axis], strides[axis] * (axis < first_axis ? 1 : 2)};
    // Corner c is 1 further along the axes whose bits it has, the last axis being bit 0.
    corners_ = std::size_t{1} << (shape.rank() - first_axis);
    for (std::size_t corner = 0; corner < corners_; ++corner)
      for (int axis = first_axis; axis < shape.rank(); ++axis)
        if ((corner >> (shape.rank() - 1 - axis) & 1) != 0) corner_[corner] += strides[axis];
  }

  const Shape& out() const { return out_; }

  /// Calls run(place in the output, place of the largest in x), in parallel.
  template <class T, class Run>
  void each(const T* x, const Run& run) const {
    if (out_.numel() == 0) return;
    op::each(out_.numel() / row_, row_, [&](std::int64_t row) {
      const std::int64_t first = origin(row);
      for (std::int64_t i = 0; i < row_; ++i) run(row * row_ + i, largest(x, first + 2 * i));
    });
  }

 private:
  struct Axis {
    std::int64_t extent;
    std::int64_t step;
  };

  /// The first number of the first block of a row.
  std::int64_t origin(std::int64_t row) const {
    std::int64_t result = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      result += row % axes_[i].extent * axes_[i].step;
      row /= axes_[i].extent;
    }
    return result;
  }
  /// The first of equals; a NaN is larger than everything.
  template <class T>
  std::int64_t largest(const T* x, std::int64_t first) const {
    std::int64_t best = first;
    for (std::size_t corner = 1; corner < corners_; ++corner) {
      const std::int64_t other = first + corner_[corner];
      // Computed, not jumped to: which one is larger is anybody's guess, and a wrong guess of
      // the processor costs more than the whole block.
      const auto larger = static_cast<std::int64_t>(!(x[other] <= x[best])) &
                          static_cast<std::int64_t>(x[best] == x[best]);
      best += (other - best) * larger;
    }
    return best;
  }

  Shape out_;
  std::int64_t row_ = 0;                      ///< extent of the last axis of the output
  std::array<Axis, Shape::kMaxRank> axes_{};  ///< all but the last, from the end
  std::size_t count_ = 0;
  std::array<std::int64_t, 1 << Shape::kMaxRank> corner_{};
  std::size_t corners_ = 1;
};

/// One axis after the other, from the last on, made of ops: that finds the first of equals too.
Tensor pooled_gpu(const Tensor& x, int first_axis) {
  Tensor pooled = x;
  for (int axis = x.rank() - 1; axis >= first_axis; --axis) {
    const std::int64_t blocks = x.size(axis) / 2;
    // Neighbours stand side by side on a last axis.
    const Tensor even = pooled.slice(axis, 0, 2 * blocks).transpose(axis, x.rank() - 1);
    Shape pairs = even.shape();
    pairs[x.rank() - 1] = blocks;
    pairs.push_back(2);
    pooled = max(even.reshape(pairs), -1).values.transpose(axis, x.rank() - 1);
  }
  return pooled;
}

}  // namespace

Tensor max_pool_by_two(const Tensor& x, int first_axis) {
  constexpr const char* kWhere = "attn::max_pool_by_two";
  op::require_real(x, kWhere, "x");
  first_axis = normal_axis(first_axis, x.rank(), kWhere);
  if (op::on_gpu(x)) return pooled_gpu(x, first_axis);
  if (op::is_half(x.dtype()))
    return max_pool_by_two(x.to(DType::f32), first_axis).to(x.dtype());
  const Tensor packed = x.detach().contiguous();
  return op::dispatch_real(x.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    const Blocks blocks(x.shape(), first_axis);
    const Tensor out = Tensor::empty(blocks.out(), x.dtype());
    const T* from = packed.data<T>();
    T* to = out.mutable_data<T>();
    blocks.each(from, [&](std::int64_t i, std::int64_t best) { to[i] = from[best]; });
    return op::record_one(
        "max_pool_by_two", x, out, [saved = Saved(packed), first_axis](const Tensor& arrived) {
          Tensor dx = Tensor::zeros(saved.get().shape(), arrived.dtype());
          const Tensor grad = arrived.contiguous();
          const T* g = grad.data<T>();
          T* d = dx.mutable_data<T>();
          Blocks(dx.shape(), first_axis)
              .each(saved.get().data<T>(),
                    [&](std::int64_t i, std::int64_t best) { d[best] = g[i]; });
          return dx;
        });
  });
}

}  // namespace attn
