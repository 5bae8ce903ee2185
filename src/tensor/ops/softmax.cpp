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
#include "tensor/gpu/rows.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/each_row.hpp"

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
Tensor softmax_forward(const Tensor& x, const Tensor& keep) {
  const Tensor out = Tensor::empty(x.shape(), x.dtype());
  const std::int64_t count = x.size(-1);
  if (x.numel() == 0) return out;
  const KeepRows mask(keep);
  const T* from = x.data<T>();
  T* to = out.mutable_data<T>();
  const auto kernel = cpu::row_table<T>().softmax;
  op::each_row(x.numel() / count, count, [&](std::int64_t row) {
    kernel(count, from + row * count, mask.row(row), to + row * count);
  });
  return out;
}

/// Calls kernel(count, row of a, row of out).
template <class T, class Kernel>
Tensor map_rows(const Tensor& a, Kernel kernel) {
  const Tensor out = Tensor::empty(a.shape(), a.dtype());
  const std::int64_t count = a.size(-1);
  if (a.numel() == 0) return out;
  const T* from = a.data<T>();
  T* to = out.mutable_data<T>();
  op::each_row(a.numel() / count, count,
               [&](std::int64_t row) { kernel(count, from + row * count, to + row * count); });
  return out;
}

/// Calls kernel(count, row of a, row of b, row of out).
template <class T, class Kernel>
Tensor map_rows(const Tensor& a, const Tensor& b, Kernel kernel) {
  const T* second = b.data<T>();
  const T* first = a.data<T>();
  return map_rows<T>(a, [&](std::int64_t count, const T* row, T* to) {
    kernel(count, row, second + (row - first), to);
  });
}

/// log(softmax) and softmax differ in their kernels alone; the GPU's take any real type.
struct Kernels {
  const char* name;
  Tensor (*forward)(const Tensor& x, const Tensor& keep);
  Tensor (*backward)(const Tensor& y, const Tensor& grad);
  void (*gpu_forward)(const Tensor& x, const Tensor& keep, const Tensor& y);
  void (*gpu_backward)(const Tensor& y, const Tensor& grad, const Tensor& dx);
};

constexpr Kernels kSoftmax{
    "softmax",
    [](const Tensor& x, const Tensor& keep) {
      return op::dispatch_real(x.dtype(), "attn::softmax",
                               [&]<class T>(T) { return softmax_forward<T>(x, keep); });
    },
    [](const Tensor& y, const Tensor& grad) {
      return op::dispatch_real(y.dtype(), "attn::softmax", [&]<class T>(T) {
        return map_rows<T>(y, grad, cpu::row_table<T>().softmax_backward);
      });
    },
    &gpu::softmax, &gpu::softmax_backward};

constexpr Kernels kLogSoftmax{
    "log_softmax",
    [](const Tensor& x, const Tensor&) {
      return op::dispatch_real(x.dtype(), "attn::log_softmax", [&]<class T>(T) {
        return map_rows<T>(x, cpu::row_table<T>().log_softmax);
      });
    },
    [](const Tensor& y, const Tensor& grad) {
      return op::dispatch_real(y.dtype(), "attn::log_softmax", [&]<class T>(T) {
        return map_rows<T>(y, grad, cpu::row_table<T>().log_softmax_backward);
      });
    },
    [](const Tensor& x, const Tensor&, const Tensor& y) { gpu::log_softmax(x, y); },
    &gpu::log_softmax_backward};

Tensor along_last(const Kernels& kernels, const Tensor& input, const Tensor& keep) {
  const Tensor x = input.detach().contiguous();
  const Tensor y = op::dispatch_device(
      x, [&] { return kernels.forward(x, keep); },
      [&] {
        const Tensor out = Tensor::empty(x.shape(), x.dtype(), Device::gpu);
        kernels.gpu_forward(x, keep, out);
        return out;
      });
  return record(
      kernels.name, {input}, y,
      [&kernels, saved = Saved(y)](const Gradients& grads, const Needs&) -> Gradients {
        const Tensor grad = grads[0].contiguous();
        return {op::dispatch_device(
            grad, [&] { return kernels.backward(saved.get(), grad); },
            [&] {
              const Tensor dx = Tensor::empty(grad.shape(), grad.dtype(), Device::gpu);
              kernels.gpu_backward(saved.get(), grad, dx);
              return dx;
            })};
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
