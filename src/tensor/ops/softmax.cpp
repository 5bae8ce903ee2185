// Softmax and log-softmax along an axis as ops, with a mask.

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/rows_table.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

/// The rows of a mask that was expanded to the shape of the scores: often one row serves many.
class KeepRows {
 public:
  explicit KeepRows(const Tensor& keep) {
    if (!keep.defined()) return;
    const bool in_order = keep.size(-1) <= 1 || keep.strides()[-1] == 1;
    keep_ = in_order ? keep : keep.contiguous();
    data_ = keep_.data<bool>();
    for (int axis = keep_.rank() - 2; axis >= 0; --axis)
      axes_[count_++] = {keep_.size(axis), keep_.strides()[axis]};
  }

  /// Null without a mask.
  const bool* row(std::int64_t index) const {
    const bool* place = data_;
    for (std::size_t i = 0; i < count_ && index > 0; ++i) {
      place += index % axes_[i].extent * axes_[i].stride;
      index /= axes_[i].extent;
    }
    return place;
  }

 private:
  struct Axis {
    std::int64_t extent;
    std::int64_t stride;
  };

  Tensor keep_;
  const bool* data_ = nullptr;
  std::array<Axis, Shape::kMaxRank> axes_{};  ///< all but the last, from the end
  std::size_t count_ = 0;
};

template <class T>
void softmax_rows(const Tensor& x, const Tensor& keep, const Tensor& out) {
  const std::int64_t count = x.size(-1);
  if (x.numel() == 0) return;
  const KeepRows mask(keep);
  const T* from = x.data<T>();
  T* to = out.mutable_data<T>();
  const auto kernel = cpu::row_table<T>().softmax;
  op::each(x.numel() / count, count, [&](std::int64_t row) {
    kernel(count, from + row * count, mask.row(row), to + row * count);
  });
}

/// Calls kernel(count, row of each of `from`..., row of out).
template <class T, class Kernel, class... From>
void map_rows(const Tensor& out, Kernel kernel, const From&... from) {
  const std::int64_t count = out.size(-1);
  if (out.numel() == 0) return;
  T* to = out.mutable_data<T>();
  const auto run = [&](const auto*... x) {
    op::each(out.numel() / count, count,
             [&](std::int64_t row) { kernel(count, x + row * count..., to + row * count); });
  };
  run(from.template data<T>()...);
}

/// log(softmax) and softmax differ in their kernels alone; the GPU's take any real type.
struct Kernels {
  const char* name;
  void (*forward)(const Tensor& x, const Tensor& keep, const Tensor& y);
  void (*backward)(const Tensor& y, const Tensor& grad, const Tensor& dx);
};

constexpr Kernels kSoftmax{
    "softmax",
    [](const Tensor& x, const Tensor& keep, const Tensor& y) {
      op::dispatch_device_and_real(
          x, "attn::softmax", [&]<class T>(T) { softmax_rows<T>(x, keep, y); },
          [&] { gpu::softmax(x, keep, y); });
    },
    [](const Tensor& y, const Tensor& grad, const Tensor& dx) {
      op::dispatch_device_and_real(
          y, "attn::softmax",
          [&]<class T>(T) { map_rows<T>(dx, cpu::row_table<T>().softmax_backward, y, grad); },
          [&] { gpu::softmax_backward(y, grad, dx); });
    }};

constexpr Kernels kLogSoftmax{
    "log_softmax",
    [](const Tensor& x, const Tensor&, const Tensor& y) {
      op::dispatch_device_and_real(
          x, "attn::log_softmax",
          [&]<class T>(T) { map_rows<T>(y, cpu::row_table<T>().log_softmax, x); },
          [&] { gpu::log_softmax(x, y); });
    },
    [](const Tensor& y, const Tensor& grad, const Tensor& dx) {
      op::dispatch_device_and_real(
          y, "attn::log_softmax",
          [&]<class T>(T) {
            map_rows<T>(dx, cpu::row_table<T>().log_softmax_backward, y, grad);
          },
          [&] { gpu::log_softmax_backward(y, grad, dx); });
    }};

Tensor along_last(const Kernels& kernels, const Tensor& input, const Tensor& keep) {
  const Tensor x = input.detach().contiguous();
  const Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device());
  kernels.forward(x, keep, y);
  return op::record_one(
      kernels.name, input, y, [&kernels, saved = Saved(y)](const Tensor& grad) {
        const Tensor dx = Tensor::empty(grad.shape(), grad.dtype(), grad.device());
        kernels.backward(saved.get(), grad.contiguous(), dx);
        return dx;
      });
}

/// `keep` as a view of the shape of x; none stays none.
Tensor expanded_keep(const Tensor& keep, const Tensor& x) {
  if (!keep.defined()) return keep;
  op::require_dtype(keep, DType::boolean, "attn::softmax", "keep");
  op::require_same_device(x, keep, "attn::softmax");
  if (!(broadcast(x.shape(), keep.shape(), "attn::softmax") == x.shape()))
    fail("attn::softmax: keep is ", keep.text(), ", x is ", x.text(),
         "; a keep that broadcasts to the shape of x is accepted");
  return keep.expand(x.shape());
}

}  // namespace

Tensor softmax(const Tensor& x, int axis, const Tensor& keep) {
  op::require_real(x, "attn::softmax", "x");
  axis = normal_axis(axis, x.rank(), "attn::softmax");
  if (op::is_widened(x)) return softmax(x.to(DType::f32), axis, keep).to(x.dtype());
  const Tensor mask = expanded_keep(keep, x);
  if (axis == x.rank() - 1) return along_last(kSoftmax, x, mask);
  const Tensor transposed = mask.defined() ? mask.transpose(axis, -1) : mask;
  return along_last(kSoftmax, x.transpose(axis, -1), transposed).transpose(axis, -1);
}

Tensor log_softmax(const Tensor& x, int axis) {
  op::require_real(x, "attn::log_softmax", "x");
  axis = normal_axis(axis, x.rank(), "attn::log_softmax");
  if (op::is_widened(x)) return log_softmax(x.to(DType::f32), axis).to(x.dtype());
  if (axis == x.rank() - 1) return along_last(kLogSoftmax, x, {});
  return along_last(kLogSoftmax, x.transpose(axis, -1), {}).transpose(axis, -1);
}

}  // namespace attn
