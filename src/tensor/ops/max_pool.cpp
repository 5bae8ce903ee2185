// Maxima of blocks of two along the last axes, as an op.

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/conv.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn {
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
    return record(
        "max_pool_by_two", {x}, out,
        [saved = Saved(packed), first_axis](const Gradients& grads, const Needs&) -> Gradients {
          const Tensor dx = Tensor::zeros(saved.get().shape(), grads[0].dtype());
          const Tensor grad = grads[0].contiguous();
          const T* g = grad.data<T>();
          T* d = dx.mutable_data<T>();
          Blocks(dx.shape(), first_axis)
              .each(saved.get().data<T>(),
                    [&](std::int64_t i, std::int64_t best) { d[best] = g[i]; });
          return {dx};
        });
  });
}

}  // namespace attn
