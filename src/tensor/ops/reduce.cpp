#include "attn/tensor/ops/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/pointwise_table.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/axis_extents.hpp"

namespace attn {
namespace {

float row_sum(std::int64_t count, const float* x) {
  return cpu::pointwise_table().sum(count, x);
}
double row_sum(std::int64_t count, const double* x) {
  double total = 0.0;
  for (std::int64_t i = 0; i < count; ++i) total += x[i];
  return total;
}

/// x seen as [outer, reduced, inner] becomes [outer, inner].
template <class T>
void sum_middle(const T* x, const op::AxisExtents& extents, T* out) {
  const auto [outer, reduced, inner] = extents;
  if (inner == 1) {
    return op::each(outer, reduced + 1,
                    [&](std::int64_t i) { out[i] = row_sum(reduced, x + i * reduced); });
  }
  // Columns are cut into strips, so that one tall matrix still uses every thread.
  constexpr std::int64_t kStrip = 512;
  const std::int64_t strips = (inner + kStrip - 1) / kStrip;
  op::each(outer * strips, op::kGrain, [&](std::int64_t task) {
    const std::int64_t first = task % strips * kStrip;
    const std::int64_t count = std::min(kStrip, inner - first);
    T* to = out + task / strips * inner + first;
    std::fill_n(to, count, T(0));
    const T* from = x + task / strips * reduced * inner + first;
    for (std::int64_t r = 0; r < reduced; ++r) cpu::accumulate(count, from + r * inner, to);
  });
}

/// The sum along one axis, which stays with extent 1; off the tape.
Tensor sum_axis(const Tensor& input, int axis) {
  if (op::is_widened(input)) return sum_axis(input.to(DType::f32), axis).to(input.dtype());
  const Tensor x = input.contiguous();
  Shape shape = x.shape();
  shape[axis] = 1;
  const Tensor out = Tensor::empty(shape, x.dtype(), x.device());
  const op::AxisExtents extents(x.shape(), axis);
  op::dispatch_device_and_real(
      x, "attn::sum",
      [&]<class T>(T) { sum_middle(x.data<T>(), extents, out.mutable_data<T>()); },
      [&] { gpu::sum_middle(x, extents, out); });
  return out;
}

void argmax_cpu(const Tensor& x, const op::AxisExtents& extents, const Tensor& out) {
  auto* to = out.mutable_data<std::int64_t>();
  op::dispatch_real(x.dtype(), "attn::argmax", [&]<class T>(T) {
    const T* from = x.data<T>();
    for (std::int64_t o = 0; o < extents.outer; ++o) {
      for (std::int64_t i = 0; i < extents.inner; ++i) {
        const T* row = from + o * extents.extent * extents.inner + i;
        std::int64_t best = 0;
        for (std::int64_t r = 1; r < extents.extent; ++r)
          if (row[r * extents.inner] > row[best * extents.inner]) best = r;
        to[o * extents.inner + i] = best;
      }
    }
  });
}

void top_cpu(const Tensor& x, const Tensor& out) {
  const std::int64_t columns = x.size(1);
  const std::int64_t count = out.size(2);
  double* values = out.mutable_data<double>();
  double* positions = values + x.size(0) * count;
  std::fill(values, positions, -std::numeric_limits<double>::infinity());
  std::fill_n(positions, x.size(0) * count, -1.0);
  op::each(x.size(0), columns, [&](std::int64_t row) {
    const float* from = x.data<float>() + row * columns;
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < columns; ++i)
      if (!std::isnan(from[i])) order.push_back(i);
    const auto some = std::min(count, static_cast<std::int64_t>(order.size()));
    std::partial_sort(order.begin(), order.begin() + some, order.end(), [&](auto a, auto b) {
      return from[a] != from[b] ? from[a] > from[b] : a < b;
    });
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t place = order[static_cast<std::size_t>(i)];
      values[row * count + i] = from[place];
      positions[row * count + i] = static_cast<double>(place);
    }
  });
}

}  // namespace

Tensor sum(const Tensor& x, int axis, Axis axes) {
  op::require_real(x, "attn::sum", "the input");
  axis = normal_axis(axis, x.rank(), "attn::sum");
  const Tensor total =
      op::record_one("attn::sum", x, sum_axis(x.detach(), axis),
                     [shape = x.shape()](const Tensor& grad) { return grad.expand(shape); });
  return axes == Axis::keep ? total : total.squeeze(axis);
}

Tensor sum(const Tensor& x) {
  if (x.rank() == 0) return x;
  return sum(x.reshape({x.numel()}), 0);
}

Tensor mean(const Tensor& x) {
  return affine(sum(x), 1.0 / static_cast<double>(std::max<std::int64_t>(1, x.numel())), 0.0);
}

Tensor mean(const Tensor& x, int axis, Axis axes) {
  const auto count = static_cast<double>(std::max<std::int64_t>(1, x.size(axis)));
  return affine(sum(x, axis, axes), 1.0 / count, 0.0);
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Tensor result = x;
  // Leading axes that lie together are summed as one.
  const int extra = x.rank() - shape.rank();
  if (extra > 0) {
    Shape joined{1};
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (axis < extra) {
        joined[0] *= x.size(axis);
      } else {
        joined.push_back(x.size(axis));
      }
    }
    result = sum(result.reshape(joined), 0);
  }
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] == 1 && result.size(axis) != 1) result = sum(result, axis, Axis::keep);
  if (!(result.shape() == shape))
    fail("attn::sum_to: ", x.text(), " to ", shape.text(), "; a shape that broadcasts to it ",
         "is accepted");
  return result;
}

Tensor argmax(const Tensor& x, int axis) {
  op::require_real(x, "attn::argmax", "the input");
  axis = normal_axis(axis, x.rank(), "attn::argmax");
  const Tensor wide = op::is_widened(x) ? x.detach().to(DType::f32) : x.detach();
  const Tensor packed = wide.contiguous();
  const op::AxisExtents extents(packed.shape(), axis);
  if (extents.extent == 0 && extents.outer * extents.inner > 0)
    fail("attn::argmax: axis ", axis, " of ", x.text(), " is empty; one number is needed");
  Shape shape = packed.shape();
  shape.erase(axis);
  const Tensor out = Tensor::empty(shape, DType::i64, x.device());
  op::dispatch_device(
      x, [&] { argmax_cpu(packed, extents, out); }, [&] { gpu::argmax(packed, extents, out); });
  return out;
}

Maximum max(const Tensor& x, int axis, Axis axes) {
  axis = normal_axis(axis, x.rank(), "attn::max");
  const Tensor indices = argmax(x, axis).unsqueeze(axis);
  const Tensor values = gather(x, axis, indices);
  if (axes == Axis::keep) return {values, indices};
  return {values.squeeze(axis), indices.squeeze(axis)};
}

Tensor top(const Tensor& x, std::int64_t count) {
  op::require_dtype(x, DType::f32, "attn::top", "the input");
  if (x.rank() != 2 || count < 0)
    fail("attn::top: ", count, " of ", x.text(), "; 0 and more of [rows, columns] is accepted");
  const Tensor packed = x.detach().contiguous();
  const Tensor out = Tensor::empty({2, x.size(0), count}, DType::f64, x.device());
  op::dispatch_device(x, [&] { top_cpu(packed, out); }, [&] { gpu::top(packed, out); });
  return out;
}

}  // namespace attn
