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

/// The same on the GPU, in any type of real numbers.
Tensor softmax_last_gpu(const Tensor& x, const Tensor& keep) {
  const Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  gpu::softmax(x.detach().contiguous(), keep, out);
  return record(
      "softmax", {x}, out, [y = Saved(out)](const Gradients& grads, const Needs&) -> Gradients {
        const Tensor dx = Tensor::empty(y.get().shape(), y.get().dtype(), Device::gpu);
        gpu::softmax_backward(y.get(), grads[0].contiguous(), dx);
        return {dx};
      });
}

Tensor log_softmax_last_gpu(const Tensor& x) {
  const Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  gpu::log_softmax(x.detach().contiguous(), out);
  return record("log_softmax", {x}, out,
                [y = Saved(out)](const Gradients& grads, const Needs&) -> Gradients {
                  const Tensor dx =
                      Tensor::empty(y.get().shape(), y.get().dtype(), Device::gpu);
                  gpu::log_softmax_backward(y.get(), grads[0].contiguous(), dx);
                  return {dx};
                });
}

Tensor softmax_last(const Tensor& x, const Tensor& keep) {
  if (op::on_gpu(x)) return softmax_last_gpu(x, keep);
  return op::dispatch_real(x.dtype(), "attn::softmax", [&](auto zero) {
    using T = decltype(zero);
    const Tensor out = softmax_forward<T>(x.detach().contiguous(), keep);
    return record("softmax", {x}, out,
                  [y = Saved(out)](const Gradients& grads, const Needs&) -> Gradients {
                    return {map_rows<T>(y.get(), grads[0].contiguous(),
                                        cpu::row_table<T>().softmax_backward)};
                  });
  });
}

Tensor log_softmax_last(const Tensor& x) {
  if (op::on_gpu(x)) return log_softmax_last_gpu(x);
  return op::dispatch_real(x.dtype(), "attn::log_softmax", [&](auto zero) {
    using T = decltype(zero);
    const Tensor out = map_rows<T>(x.detach().contiguous(), cpu::row_table<T>().log_softmax);
    return record("log_softmax", {x}, out,
                  [y = Saved(out)](const Gradients& grads, const Needs&) -> Gradients {
                    return {map_rows<T>(y.get(), grads[0].contiguous(),
                                        cpu::row_table<T>().log_softmax_backward)};
                  });
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
  if (op::is_half(x.dtype()) && !op::on_gpu(x))
    return softmax(x.to(DType::f32), axis, keep).to(x.dtype());
  const Tensor mask = expanded_keep(keep, x);
  if (axis == x.rank() - 1) return softmax_last(x, mask);
  const Tensor turned = mask.defined() ? mask.transpose(axis, -1) : mask;
  return softmax_last(x.transpose(axis, -1), turned).transpose(axis, -1);
}

Tensor log_softmax(const Tensor& x, int axis) {
  op::require_real(x, "attn::log_softmax", "x");
  axis = normal_axis(axis, x.rank(), "attn::log_softmax");
  if (op::is_half(x.dtype()) && !op::on_gpu(x))
    return log_softmax(x.to(DType::f32), axis).to(x.dtype());
  if (axis == x.rank() - 1) return log_softmax_last(x);
  return log_softmax_last(x.transpose(axis, -1)).transpose(axis, -1);
}

}  // namespace attn
