#include "tensor/cpu/pointwise.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/pointwise_table.hpp"
#include "tensor/cpu/rows.hpp"
#include "tensor/op.hpp"
#include "tensor/pointwise_functors.hpp"

namespace attn::cpu {

void unary_forward(UnaryOp op, double a, double b, const Tensor& x, const Tensor& y) {
  if (x.dtype() == DType::f32) {
    const UnaryKernel& kernel = pointwise_table().unary[static_cast<std::size_t>(op)];
    const auto* from = x.data<float>();
    auto* to = y.mutable_data<float>();
    op::in_blocks(x.numel(), op::kGrain, [&](std::int64_t begin, std::int64_t end) {
      kernel.forward(end - begin, static_cast<float>(a), static_cast<float>(b), from + begin,
                     to + begin);
    });
    return;
  }
  const auto* from = x.data<double>();
  auto* to = y.mutable_data<double>();
  for (std::int64_t i = 0; i < x.numel(); ++i) to[i] = pointwise::forward(op, from[i], a, b);
}

void unary_backward(UnaryOp op, double a, double b, const Tensor& grad, const Tensor& x,
                    const Tensor& y, const Tensor& dx) {
  if (x.dtype() == DType::f32) {
    const UnaryKernel& kernel = pointwise_table().unary[static_cast<std::size_t>(op)];
    const auto* g = grad.data<float>();
    const auto* in = x.data<float>();
    const auto* out = y.data<float>();
    auto* to = dx.mutable_data<float>();
    op::in_blocks(x.numel(), op::kGrain, [&](std::int64_t begin, std::int64_t end) {
      kernel.backward(end - begin, static_cast<float>(a), static_cast<float>(b), g + begin,
                      in + begin, out + begin, to + begin);
    });
    return;
  }
  const auto* g = grad.data<double>();
  const auto* in = x.data<double>();
  const auto* out = y.data<double>();
  auto* to = dx.mutable_data<double>();
  for (std::int64_t i = 0; i < x.numel(); ++i)
    to[i] = g[i] * pointwise::slope(op, in[i], out[i], a, b);
}

void binary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out) {
  const std::array<Shape, 3> strides{out.strides(),
                                     broadcast_strides(a.shape(), a.strides(), out.shape()),
                                     broadcast_strides(b.shape(), b.strides(), out.shape())};
  using Places = std::array<std::int64_t, 3>;
  if (out.dtype() == DType::f32) {
    const BinaryKernel kernel = pointwise_table().binary[static_cast<std::size_t>(op)];
    const auto* x = a.data<float>();
    const auto* y = b.data<float>();
    auto* to = out.mutable_data<float>();
    for_rows<3>(out.shape(), strides,
                [&](std::int64_t count, const Places& at, const Places& step) {
                  kernel(count, x + at[1], step[1], y + at[2], step[2], to + at[0]);
                });
    return;
  }
  const auto* x = a.data<double>();
  const auto* y = b.data<double>();
  auto* to = out.mutable_data<double>();
  for_rows<3>(out.shape(), strides,
              [&](std::int64_t count, const Places& at, const Places& step) {
                for (std::int64_t i = 0; i < count; ++i)
                  to[at[0] + i] =
                      pointwise::forward(op, x[at[1] + i * step[1]], y[at[2] + i * step[2]]);
              });
}

}  // namespace attn::cpu
