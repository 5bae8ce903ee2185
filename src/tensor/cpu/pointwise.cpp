#include "tensor/cpu/pointwise.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/kernels/target.hpp"
#include "attn/tensor/pointwise_functors.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/pointwise_table.hpp"
#include "tensor/cpu/rows.hpp"
#include "tensor/op.hpp"

namespace attn::cpu {

const PointwiseTable& pointwise_table() {
#if defined(__aarch64__)
  return neon::pointwise_kernels();
#else
  static const PointwiseTable& table =
      best_target() == Target::avx512 ? avx512::pointwise_kernels()
      : best_target() == Target::avx2 ? avx2::pointwise_kernels()
                                      : sse4::pointwise_kernels();
  return table;
#endif
}

namespace {

using namespace pointwise;  // NOLINT(google-build-using-namespace): the lists below

/// Calls run(F{}) with the functor of an op.
template <class Run>
void visit(UnaryOp op, const Run& run) {
  switch (op) {
    case UnaryOp::affine:
      return run(Affine{});
    case UnaryOp::exp:
      return run(Exp{});
    case UnaryOp::log:
      return run(Log{});
    case UnaryOp::sqrt:
      return run(Sqrt{});
    case UnaryOp::square:
      return run(Square{});
    case UnaryOp::abs:
      return run(Abs{});
    case UnaryOp::tanh:
      return run(Tanh{});
    case UnaryOp::sigmoid:
      return run(Sigmoid{});
    case UnaryOp::relu:
      return run(Relu{});
    case UnaryOp::gelu:
      return run(Gelu{});
    case UnaryOp::elu:
      return run(Elu{});
    case UnaryOp::clamp:
      return run(Clamp{});
  }
}
template <class Run>
void visit(BinaryOp op, const Run& run) {
  switch (op) {
    case BinaryOp::add:
      return run(Add{});
    case BinaryOp::sub:
      return run(Sub{});
    case BinaryOp::mul:
      return run(Mul{});
    case BinaryOp::div:
      return run(Div{});
    case BinaryOp::maximum:
      return run(Maximum{});
    case BinaryOp::minimum:
      return run(Minimum{});
    case BinaryOp::gate:
      return run(Gate{});
  }
}

}  // namespace

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
  visit(op, [&](auto f) {
    for (std::int64_t i = 0; i < x.numel(); ++i) to[i] = f.forward(from[i], a, b);
  });
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
  visit(op, [&](auto f) {
    for (std::int64_t i = 0; i < x.numel(); ++i) to[i] = g[i] * f.slope(in[i], out[i], a, b);
  });
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
  visit(op, [&](auto f) {
    for_rows<3>(out.shape(), strides,
                [&](std::int64_t count, const Places& at, const Places& step) {
                  for (std::int64_t i = 0; i < count; ++i)
                    to[at[0] + i] = f.forward(x[at[1] + i * step[1]], y[at[2] + i * step[2]]);
                });
  });
}

}  // namespace attn::cpu
