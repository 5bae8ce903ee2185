// Scores of additive attention and their gradients on the GPU, with the matrix in memory.

#include <cstdint>

#include "attn/core/math.hpp"
#include "tensor/gpu/launch.cuh"
#include "tensor/gpu/pairs.hpp"

namespace attn::gpu {
namespace {

constexpr const char* kWhere = "attn::attend";

struct Sizes {
  std::int64_t heads;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t channels;
};

constexpr int kTile = 16;      ///< queries and keys of a block, a pair for each thread
constexpr int kChannels = 32;  ///< that lie in shared memory at once

template <class T>
__global__ void scores_kernel(Sizes n, const T* q, const T* k, const T* w, T* out) {
  // One column more, so that rows begin in different banks.
  __shared__ T queries[kTile][kChannels + 1];
  __shared__ T keys[kTile][kChannels + 1];
  __shared__ T weights[kChannels];
  const std::int64_t key_tiles = (n.keys + kTile - 1) / kTile;
  const std::int64_t head = blockIdx.y;
  const std::int64_t first_i = blockIdx.x / key_tiles * kTile;
  const std::int64_t first_j = blockIdx.x % key_tiles * kTile;
  const int row = static_cast<int>(threadIdx.x) / kTile;
  const int column = static_cast<int>(threadIdx.x) % kTile;
  const T* own = w + head % n.heads * n.channels;
  T sum = T(0);
  for (std::int64_t first = 0; first < n.channels; first += kChannels) {
    __syncthreads();
    for (int at = static_cast<int>(threadIdx.x); at < kTile * kChannels; at += kThreads) {
      const int r = at / kChannels;
      const int c = at % kChannels;
      const bool there = first + c < n.channels;
      queries[r][c] = there && first_i + r < n.queries
                          ? q[(head * n.queries + first_i + r) * n.channels + first + c]
                          : T(0);
      keys[r][c] = there && first_j + r < n.keys
                       ? k[(head * n.keys + first_j + r) * n.channels + first + c]
                       : T(0);
    }
    if (threadIdx.x < kChannels)
      weights[threadIdx.x] = first + threadIdx.x < n.channels ? own[first + threadIdx.x] : T(0);
    __syncthreads();
#pragma unroll 8
    for (int c = 0; c < kChannels; ++c)
      sum += weights[c] * attn::tanh(queries[row][c] + keys[column][c]);
  }
  if (first_i + row < n.queries && first_j + column < n.keys)
    out[(head * n.queries + first_i + row) * n.keys + first_j + column] = sum;
}

/// Block (row, head): the gradient of one row of q or of k, a thread for each channel. The
/// other side's rows stream by, so no sum is shared and the order never changes.
template <bool kOfQueries, class T>
__global__ void backward_kernel(Sizes n, const T* q, const T* k, const T* w, const T* grad,
                                T* d_row, T* dw) {
  const std::int64_t head = blockIdx.y;
  const std::int64_t row = blockIdx.x;
  const std::int64_t others = kOfQueries ? n.keys : n.queries;
  const T* own = (kOfQueries ? q + (head * n.queries + row) * n.channels
                             : k + (head * n.keys + row) * n.channels);
  const T* other =
      (kOfQueries ? k + head * n.keys * n.channels : q + head * n.queries * n.channels);
  for (std::int64_t c = threadIdx.x; c < n.channels; c += kThreads) {
    T slope = T(0);
    T weight = T(0);
    for (std::int64_t j = 0; j < others; ++j) {
      const T ds = kOfQueries ? grad[(head * n.queries + row) * n.keys + j]
                              : grad[(head * n.queries + j) * n.keys + row];
      if (ds == T(0)) continue;  // what a mask hides may be NaN
      const T t = attn::tanh(own[c] + other[j * n.channels + c]);
      slope += ds * (T(1) - t * t);
      weight += ds * t;
    }
    const std::int64_t rows = kOfQueries ? n.queries : n.keys;
    d_row[(head * rows + row) * n.channels + c] = slope * w[head % n.heads * n.channels + c];
    if (kOfQueries) dw[(head * rows + row) * n.channels + c] = weight;
  }
}

Sizes sizes_of(const Tensor& q, const Tensor& k) {
  return {q.size(1), q.size(2), k.size(2), q.size(3)};
}

unsigned heads_of(const Tensor& q) {
  const std::int64_t heads = q.size(0) * q.size(1);
  if (heads > 65535)
    fail<Unsupported>(kWhere, ": ", q.text(),
                      " and weights on the gpu; 65535 heads of all batches are accepted");
  return static_cast<unsigned>(heads);
}

}  // namespace

void additive_scores(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& out) {
  if (out.numel() == 0) return;
  const Sizes n = sizes_of(q, k);
  const std::int64_t tiles = ((n.queries + kTile - 1) / kTile) * ((n.keys + kTile - 1) / kTile);
  op::dispatch_real(q.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    scores_kernel<<<dim3(static_cast<unsigned>(tiles), heads_of(q)), kThreads, 0, stream()>>>(
        n, op::numbers<const T>(q), op::numbers<const T>(k), op::numbers<const T>(w),
        op::numbers<T>(out));
  });
  check_launch();
}

void additive_scores_backward(const Tensor& q, const Tensor& k, const Tensor& w,
                              const Tensor& grad, const Tensor& dq, const Tensor& dk,
                              const Tensor& dw) {
  const Sizes n = sizes_of(q, k);
  op::dispatch_real(q.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [&](auto kernel, std::int64_t rows, const Tensor& d_row) {
      if (d_row.numel() == 0) return;
      kernel<<<dim3(static_cast<unsigned>(rows), heads_of(q)), kThreads, 0, stream()>>>(
          n, op::numbers<const T>(q), op::numbers<const T>(k), op::numbers<const T>(w),
          op::numbers<const T>(grad), op::numbers<T>(d_row), op::numbers<T>(dw));
      check_launch();
    };
    run(&backward_kernel<true, T>, n.queries, dq);
    run(&backward_kernel<false, T>, n.keys, dk);
  });
}

}  // namespace attn::gpu
