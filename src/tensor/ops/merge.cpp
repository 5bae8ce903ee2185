#include "attn/tensor/ops/merge.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

constexpr const char* kWhere = "attn::merge_states";

void check(const PartialAttention& part, const char* name) {
  op::require_real(part.output, kWhere, name);
  Shape rows = part.output.shape();
  if (rows.rank() < 1) fail(kWhere, ": an output without channels");
  rows.erase(rows.rank() - 1);
  op::require_shape(part.log_sum_exp, rows, kWhere, "log_sum_exp");
  op::require_dtype(part.log_sum_exp, op::sum_dtype(part.output), kWhere, "log_sum_exp");
  op::require_same_device(part.output, part.log_sum_exp, kWhere);
}

/// The shares of the two parts in a row, and the row's log-sum-exp.
template <class T>
struct Shares {
  T a;
  T b;
  T log_sum_exp;

  static Shares of(T a, T b) {
    constexpr T kNone = -std::numeric_limits<T>::infinity();
    if (a == kNone) return {T(0), b == kNone ? T(0) : T(1), b};
    if (b == kNone) return {T(1), T(0), a};
    const T largest = a > b ? a : b;
    const T sum = std::exp(a - largest) + std::exp(b - largest);
    return {std::exp(a - largest) / sum, std::exp(b - largest) / sum, largest + std::log(sum)};
  }
};

template <class T>
void merge_rows(const std::array<Tensor, 4>& in, const Tensor& out, const Tensor& total) {
  const std::int64_t channels = out.size(-1);
  const T* out_a = in[0].data<T>();
  const T* out_b = in[2].data<T>();
  T* to = out.mutable_data<T>();
  T* lse = total.mutable_data<T>();
  op::each(total.numel(), channels, [&](std::int64_t row) {
    const auto share = Shares<T>::of(in[1].data<T>()[row], in[3].data<T>()[row]);
    lse[row] = share.log_sum_exp;
    for (std::int64_t c = row * channels; c < (row + 1) * channels; ++c) {
      // What has no share is not looked at: it may be NaN.
      const T first = share.a == T(0) ? T(0) : share.a * out_a[c];
      to[c] = share.b == T(0) ? first : first + share.b * out_b[c];
    }
  });
}

/// The gradients of the four inputs; what is not defined did not arrive.
template <class T>
void merge_rows_backward(const std::array<Tensor, 4>& in, const Tensor& d_out,
                         const Tensor& d_total, const std::array<Tensor, 4>& down) {
  const std::int64_t channels = in[0].size(-1);
  const T* out_a = in[0].data<T>();
  const T* out_b = in[2].data<T>();
  const T* d_rows = d_out.data<T>();
  const T* d_lse = d_total.data<T>();
  std::array<T*, 4> to{};
  for (std::size_t i = 0; i < 4; ++i) to[i] = down[i].mutable_data<T>();
  op::each(in[1].numel(), channels, [&](std::int64_t row) {
    const auto share = Shares<T>::of(in[1].data<T>()[row], in[3].data<T>()[row]);
    const bool both = share.a != T(0) && share.b != T(0);
    T apart = T(0);
    for (std::int64_t c = row * channels; c < (row + 1) * channels; ++c) {
      to[0][c] = share.a == T(0) ? T(0) : share.a * d_rows[c];
      to[2][c] = share.b == T(0) ? T(0) : share.b * d_rows[c];
      if (both) apart += d_rows[c] * (out_a[c] - out_b[c]);
    }
    const T moved = both ? share.a * share.b * apart : T(0);
    to[1][row] = share.a == T(0) ? T(0) : share.a * d_lse[row] + moved;
    to[3][row] = share.b == T(0) ? T(0) : share.b * d_lse[row] - moved;
  });
}

}  // namespace

PartialAttention merge_states(const PartialAttention& a, const PartialAttention& b) {
  check(a, "output of a");
  check(b, "output of b");
  op::require_same_kind(a.output, b.output, kWhere);
  op::require_shape(b.output, a.output.shape(), kWhere, "output of b");
  const DType storage = a.output.dtype();
  if (op::is_half(storage)) {
    const PartialAttention wide = merge_states({a.output.to(DType::f32), a.log_sum_exp},
                                               {b.output.to(DType::f32), b.log_sum_exp});
    return {wide.output.to(storage), wide.log_sum_exp};
  }
  const std::array<Tensor, 4> inputs{a.output, a.log_sum_exp, b.output, b.log_sum_exp};
  std::array<Tensor, 4> in;
  for (std::size_t i = 0; i < 4; ++i) in[i] = inputs[i].detach().contiguous();
  const Device device = a.output.device();
  std::array<Tensor, 2> results{Tensor::empty(a.output.shape(), storage, device),
                                Tensor::empty(a.log_sum_exp.shape(), storage, device)};
  op::dispatch_device_and_real(
      a.output, kWhere, [&]<class T>(T) { merge_rows<T>(in, results[0], results[1]); },
      [&] { gpu::merge(in, results[0], results[1]); });
  const std::array<Saved, 4> saved{in[0], in[1], in[2], in[3]};
  record("merge_states", inputs, results,
         [saved, storage](const Gradients& grads, const Needs&) -> Gradients {
           std::array<Tensor, 4> tensors;
           std::array<Tensor, 4> down;
           for (std::size_t i = 0; i < 4; ++i) {
             tensors[i] = saved[i].get();
             down[i] = Tensor::empty(tensors[i].shape(), storage, tensors[i].device());
           }
           const auto arrived = [&](std::size_t i) {
             return grads[i].defined()
                        ? grads[i].contiguous()
                        : Tensor::zeros(tensors[i].shape(), storage, tensors[i].device());
           };
           const Tensor d_out = arrived(0);
           const Tensor d_total = arrived(1);
           op::dispatch_device_and_real(
               d_out, kWhere,
               [&]<class T>(T) { merge_rows_backward<T>(tensors, d_out, d_total, down); },
               [&] { gpu::merge_backward(tensors, d_out, d_total, down); });
           return {down.begin(), down.end()};
         });
  return {results[0], results[1]};
}

}  // namespace attn
