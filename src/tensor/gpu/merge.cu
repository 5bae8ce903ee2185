// Merging two partial results of attention by their log-sum-exp on the GPU, and its gradient.

#include <array>
#include <cstdint>

#include "attn/pool/state.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/launch.cuh"

namespace attn::gpu {
namespace {

constexpr const char* kWhere = "attn::merge_states";

/// What a kernel reads and writes: two outputs and two log-sum-exps each.
template <class T>
struct Parts {
  T* out_a;
  T* lse_a;
  T* out_b;
  T* lse_b;

  explicit Parts(const std::array<Tensor, 4>& x)
      : out_a(op::numbers<T>(x[0])),
        lse_a(op::numbers<T>(x[1])),
        out_b(op::numbers<T>(x[2])),
        lse_b(op::numbers<T>(x[3])) {}
};

/// A thread a channel.
template <class T>
__global__ void merge_kernel(Parts<const T> in, std::int64_t rows, std::int64_t channels,
                             T* out, T* total) {
  for_numbers(rows * channels, [&](std::int64_t i) {
    const std::int64_t row = i / channels;
    out[i] = pool::mixed(pool::mix(in.lse_a[row], in.lse_b[row]), in.out_a[i], in.out_b[i]);
  });
  for_numbers(rows, [&](std::int64_t row) {
    total[row] = pool::mix(in.lse_a[row], in.lse_b[row]).lse;
  });
}

/// A thread a row: its channels are few.
template <class T>
__global__ void backward_kernel(Parts<const T> in, std::int64_t rows, int channels,
                                const T* d_out, const T* d_total, Parts<T> down) {
  for_numbers(rows, [&](std::int64_t row) {
    const std::int64_t at = row * channels;
    const pool::MixGrad<T> grad = pool::merge_backward(
        in.lse_a[row], in.out_a + at, in.lse_b[row], in.out_b + at, channels, d_out + at,
        d_total[row], down.out_a + at, down.out_b + at);
    down.lse_a[row] = grad.lse_a;
    down.lse_b[row] = grad.lse_b;
  });
}

}  // namespace

void merge(const std::array<Tensor, 4>& in, const Tensor& out, const Tensor& log_sum_exp) {
  const std::int64_t rows = log_sum_exp.numel();
  op::dispatch_real(out.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    launch(std::max(rows, out.numel()), merge_kernel<T>, Parts<const T>(in), rows, out.size(-1),
           op::numbers<T>(out), op::numbers<T>(log_sum_exp));
  });
}

void merge_backward(const std::array<Tensor, 4>& in, const Tensor& d_out,
                    const Tensor& d_log_sum_exp, const std::array<Tensor, 4>& down) {
  const std::int64_t rows = d_log_sum_exp.numel();
  op::dispatch_real(d_out.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    launch(rows, backward_kernel<T>, Parts<const T>(in), rows, static_cast<int>(d_out.size(-1)),
           op::numbers<const T>(d_out), op::numbers<const T>(d_log_sum_exp), Parts<T>(down));
  });
}

}  // namespace attn::gpu
