#include <cstdint>

#include "attn/core/math.hpp"
#include "tensor/gpu/launch.cuh"
#include "tensor/gpu/pairs.hpp"

namespace attn::gpu {
namespace {

struct Sizes {
  std::int64_t heads;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t channels;
};

constexpr int kTile = 16;      ///< queries and keys of a block, a pair for each thread
constexpr int kChannels = 32;  ///< that lie in shared memory at once

__global__ void scores_kernel(Sizes n, const float* q, const float* k, const float* w,
                              float* out) {
  // One column more, so that rows begin in different banks.
  __shared__ float queries[kTile][kChannels + 1];
  __shared__ float keys[kTile][kChannels + 1];
  __shared__ float weights[kChannels];
  const std::int64_t key_tiles = (n.keys + kTile - 1) / kTile;
  const std::int64_t head = blockIdx.y;
  const std::int64_t first_i = blockIdx.x / key_tiles * kTile;
  const std::int64_t first_j = blockIdx.x % key_tiles * kTile;
  const int row = static_cast<int>(threadIdx.x) / kTile;
  const int column = static_cast<int>(threadIdx.x) % kTile;
  const float* own = w + head % n.heads * n.channels;
  float sum = 0.0f;
  for (std::int64_t first = 0; first < n.channels; first += kChannels) {
    __syncthreads();
    for (int at = static_cast<int>(threadIdx.x); at < kTile * kChannels; at += kThreads) {
      const int r = at / kChannels;
      const int c = at % kChannels;
      const bool there = first + c < n.channels;
      queries[r][c] = there && first_i + r < n.queries
                          ? q[(head * n.queries + first_i + r) * n.channels + first + c]
                          : 0.0f;
      keys[r][c] = there && first_j + r < n.keys
                       ? k[(head * n.keys + first_j + r) * n.channels + first + c]
                       : 0.0f;
    }
    if (threadIdx.x < kChannels)
      weights[threadIdx.x] = first + threadIdx.x < n.channels ? own[first + threadIdx.x] : 0.0f;
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
template <bool kOfQueries>
__global__ void backward_kernel(Sizes n, const float* q, const float* k, const float* w,
                                const float* grad, float* d_row, float* dw) {
  const std::int64_t head = blockIdx.y;
  const std::int64_t row = blockIdx.x;
  const std::int64_t others = kOfQueries ? n.keys : n.queries;
  const float* own = (kOfQueries ? q + (head * n.queries + row) * n.channels
                                 : k + (head * n.keys + row) * n.channels);
  const float* other =
      (kOfQueries ? k + head * n.keys * n.channels : q + head * n.queries * n.channels);
  for (std::int64_t c = threadIdx.x; c < n.channels; c += kThreads) {
    float slope = 0.0f;
    float weight = 0.0f;
    for (std::int64_t j = 0; j < others; ++j) {
      const float ds = kOfQueries ? grad[(head * n.queries + row) * n.keys + j]
                                  : grad[(head * n.queries + j) * n.keys + row];
      const float t = attn::tanh(own[c] + other[j * n.channels + c]);
      slope += ds * (1.0f - t * t);
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
    fail<Unsupported>("attn::attend: ", q.text(),
                      " and weights on the gpu; 65535 heads of all batches are accepted");
  return static_cast<unsigned>(heads);
}

}  // namespace

void additive_scores(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& out) {
  if (out.numel() == 0) return;
  const Sizes n = sizes_of(q, k);
  const std::int64_t tiles = ((n.queries + kTile - 1) / kTile) * ((n.keys + kTile - 1) / kTile);
  scores_kernel<<<dim3(static_cast<unsigned>(tiles), heads_of(q)), kThreads, 0, stream()>>>(
      n, op::numbers<const float>(q), op::numbers<const float>(k), op::numbers<const float>(w),
      op::numbers<float>(out));
  check_launch();
}

void additive_scores_backward(const Tensor& q, const Tensor& k, const Tensor& w,
                              const Tensor& grad, const Tensor& dq, const Tensor& dk,
                              const Tensor& dw) {
  const Sizes n = sizes_of(q, k);
  const auto run = [&](auto kernel, std::int64_t rows, const Tensor& d_row) {
    if (d_row.numel() == 0) return;
    kernel<<<dim3(static_cast<unsigned>(rows), heads_of(q)), kThreads, 0, stream()>>>(
        n, op::numbers<const float>(q), op::numbers<const float>(k),
        op::numbers<const float>(w), op::numbers<const float>(grad), op::numbers<float>(d_row),
        op::numbers<float>(dw));
    check_launch();
  };
  run(&backward_kernel<true>, n.queries, dq);
  run(&backward_kernel<false>, n.keys, dk);
}

}  // namespace attn::gpu
