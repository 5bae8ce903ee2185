// One step of additive and multiplicative attention on the GPU, forward and backward.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "attn/core/math.hpp"
#include "tensor/gpu/cells.cuh"
#include "tensor/gpu/launch.cuh"
#include "tensor/gpu/steps.hpp"
#include "tensor/gpu/team.cuh"

namespace attn::gpu {
namespace {

/// A block for each row, a warp for each key, a thread for each column.
constexpr int kAttentionThreads = 512;
constexpr int kLookWarps = kAttentionThreads / kWarp;

__device__ int lane() {
  return static_cast<int>(threadIdx.x) % kWarp;
}
__device__ int warp() {
  return static_cast<int>(threadIdx.x) / kWarp;
}

template <class T>
__device__ std::int64_t length_of(const AttentionSource<T>& at, std::int64_t row) {
  if (at.lengths == nullptr) return at.keys_count;
  return attn::min(attn::max(at.lengths[row], std::int64_t{0}), at.keys_count);
}

/// Calls body(j, sum) in one lane with the sum of term(j, c) over all c below count, for every
/// j below length: a warp for each j.
template <class T, class Term, class Body>
__device__ void each_key(std::int64_t length, std::int64_t count, const Term& term,
                         const Body& body) {
  for (std::int64_t j = warp(); j < length; j += kLookWarps) {
    T sum(0);
#pragma unroll 8
    for (std::int64_t c = lane(); c < count; c += kWarp) sum += term(j, c);
    sum = Team<kWarp>::sum(sum);
    if (lane() == 0) body(j, sum);
  }
}

/// Scores become weights, by one warp: sources are short. All -inf: zeros.
template <class T>
__device__ void softmax_row(T* row, std::int64_t count) {
  T top(-INFINITY);
  for (std::int64_t j = lane(); j < count; j += kWarp) top = row[j] > top ? row[j] : top;
  top = Team<kWarp>::max(top);
  T sum(0);
  for (std::int64_t j = lane(); j < count; j += kWarp) {
    row[j] = exp_below(row[j], top);
    sum += row[j];
  }
  sum = Team<kWarp>::sum(sum);
  const T scale = sum == T(0) ? T(0) : T(1) / sum;
  for (std::int64_t j = lane(); j < count; j += kWarp) row[j] *= scale;
}

/// `finish(row, c, sums)` gets what is pooled in the columns c, c + units, ... of kParts.
template <class T, int kParts, class Finish>
__global__ void __launch_bounds__(kAttentionThreads)
    attention_kernel(AttentionStep<T> attention, Finish finish) {
  extern __shared__ double room[];
  const AttentionSource<T>& at = attention.at;
  T* query = reinterpret_cast<T*>(room);
  T* score = query + at.key_dim;
  T* weights = score + at.key_dim;
  const std::int64_t row = blockIdx.x;
  const std::int64_t length = length_of(at, row);
  for (std::int64_t c = threadIdx.x; c < at.key_dim; c += kAttentionThreads) {
    query[c] = attention.query[row * attention.query_stride + c];
    if (at.score != nullptr) score[c] = at.score[c];
  }
  __syncthreads();
  const T* keys = at.keys + row * at.keys_count * at.key_dim;
  const auto put = [&](std::int64_t j, T sum) { weights[j] = sum; };
  if (at.score != nullptr) {
    each_key<T>(
        length, at.key_dim,
        [&](std::int64_t j, std::int64_t c) {
          return score[c] * attn::tanh(query[c] + keys[j * at.key_dim + c]);
        },
        put);
  } else {
    each_key<T>(
        length, at.key_dim,
        [&](std::int64_t j, std::int64_t c) { return query[c] * keys[j * at.key_dim + c]; },
        put);
  }
  __syncthreads();
  if (warp() == 0) softmax_row(weights, length);
  __syncthreads();
  for (std::int64_t j = threadIdx.x; j < at.keys_count; j += kAttentionThreads)
    attention.weights[row * attention.weights_stride + j] = j < length ? weights[j] : T(0);

  const std::int64_t units = at.columns / kParts;
  const T* pooled = at.pooled + row * at.keys_count * at.columns;
  for (std::int64_t c = threadIdx.x; c < units; c += kAttentionThreads) {
    T sums[kParts] = {};
#pragma unroll 4
    for (std::int64_t j = 0; j < length; ++j) {
#pragma unroll
      for (int p = 0; p < kParts; ++p)
        sums[p] += weights[j] * pooled[j * at.columns + p * units + c];
    }
    finish(row, c, sums);
  }
}

/// ds_j = w_j (dw_j - sum of w dw).
template <class T>
__device__ void softmax_row_back(const T* weights, T* slopes, std::int64_t count) {
  T total(0);
  for (std::int64_t j = lane(); j < count; j += kWarp) total += weights[j] * slopes[j];
  total = Team<kWarp>::sum(total);
  for (std::int64_t j = lane(); j < count; j += kWarp)
    slopes[j] = weights[j] * (slopes[j] - total);
}

/// `begin(row, c, d)` tells what arrives at the pooled columns c, c + units, ...
template <class T, int kParts, class Begin>
__global__ void __launch_bounds__(kAttentionThreads)
    attention_backward_kernel(AttentionStepBackward<T> attention, Begin begin) {
  extern __shared__ double room[];
  const AttentionSource<T>& at = attention.at;
  T* d_pooled = reinterpret_cast<T*>(room);
  T* slopes = d_pooled + at.columns;
  const std::int64_t row = blockIdx.x;
  const std::int64_t length = length_of(at, row);
  const std::int64_t units = at.columns / kParts;
  for (std::int64_t c = threadIdx.x; c < units; c += kAttentionThreads) {
    T d[kParts];
    begin(row, c, d);
#pragma unroll
    for (int p = 0; p < kParts; ++p) d_pooled[p * units + c] = d[p];
  }
  __syncthreads();
  const T* pooled = at.pooled + row * at.keys_count * at.columns;
  const std::int64_t first = row * attention.weights_stride;
  each_key<T>(
      length, at.columns,
      [&](std::int64_t j, std::int64_t c) { return d_pooled[c] * pooled[j * at.columns + c]; },
      [&](std::int64_t j, T sum) {
        slopes[j] = attention.d_weights == nullptr ? sum : sum + attention.d_weights[first + j];
      });
  __syncthreads();
  if (warp() == 0) softmax_row_back(attention.weights + first, slopes, length);
  __syncthreads();
  for (std::int64_t j = threadIdx.x; j < at.keys_count; j += kAttentionThreads)
    attention.d_scores[first + j] = j < length ? slopes[j] : T(0);

  const T* keys = at.keys + row * at.keys_count * at.key_dim;
  for (std::int64_t c = threadIdx.x; c < at.key_dim; c += kAttentionThreads) {
    T sum(0);
    if (at.score == nullptr) {
#pragma unroll 8
      for (std::int64_t j = 0; j < length; ++j) sum += slopes[j] * keys[j * at.key_dim + c];
    } else {
      const T query = attention.query[row * attention.query_stride + c];
#pragma unroll 8
      for (std::int64_t j = 0; j < length; ++j) {
        const T t = attn::tanh(query + keys[j * at.key_dim + c]);
        sum += slopes[j] * (T(1) - t * t);
      }
      sum *= at.score[c];
    }
    T& down = attention.d_query[row * attention.d_query_stride + c];
    down = attention.arrive == Arrive::add ? down + sum : sum;
  }
}

/// A block for each key of each row.
template <class T>
__global__ void keys_back_kernel(AttentionKeysBackward<T> back) {
  const AttentionSource<T>& at = back.at;
  const std::int64_t row = blockIdx.x / at.keys_count;
  const std::int64_t j = blockIdx.x % at.keys_count;
  const std::int64_t key = (row * at.keys_count + j) * at.key_dim;
  const bool counts = j < length_of(at, row);
  for (std::int64_t c = threadIdx.x; c < at.key_dim; c += kThreads) {
    T slope(0);
    T weight(0);
    if (counts) {
      const T own = at.keys[key + c];
#pragma unroll 4
      for (std::int64_t t = 0; t < back.steps; ++t) {
        const T ds = back.d_scores[(row * back.steps + t) * at.keys_count + j];
        const T query = back.queries[(t * at.rows + row) * back.query_stride + c];
        const T tanh_of = attn::tanh(query + own);
        slope += ds * (T(1) - tanh_of * tanh_of);
        weight += ds * tanh_of;
      }
    }
    back.d_keys[key + c] = slope * at.score[c];
    back.d_score[key + c] = weight;
  }
}

template <class T>
struct GruFinish {
  CellStep<T> step;
  __device__ void operator()(std::int64_t row, std::int64_t c, const T (&sums)[3]) const {
    gru_unit(step, Unit{row, c, step.rows.hidden}, sums);
  }
};
template <class T>
struct GruBegin {
  CellStepBackward<T> step;
  __device__ void operator()(std::int64_t row, std::int64_t c, T (&d)[3]) const {
    const cell::GruSlopes<T> slopes = gru_unit_back(step, Unit{row, c, step.rows.hidden});
    d[0] = slopes.reset;
    d[1] = slopes.update;
    d[2] = slopes.fresh;
  }
};

template <class T>
struct JoinFinish {
  JoinStep<T> step;
  std::int64_t columns;
  __device__ void operator()(std::int64_t row, std::int64_t c, const T (&sums)[1]) const {
    step.out[row * columns + c] = attn::tanh(sums[0] + step.more[row * step.more_stride + c]);
  }
};
template <class T>
struct JoinBegin {
  JoinStepBackward<T> step;
  std::int64_t columns;
  __device__ void operator()(std::int64_t row, std::int64_t c, T (&d)[1]) const {
    const std::int64_t at = row * columns + c;
    T arriving(0);
    if (step.d_out != nullptr) arriving += step.d_out[at];
    if (step.d_more != nullptr) arriving += step.d_more[at];
    d[0] = arriving * (T(1) - step.out[at] * step.out[at]);
    step.d_sum[row * step.d_sum_stride + c] = d[0];
  }
};

/// Launches a block for each row with room for `numbers` of them.
template <class T, class Kernel, class Step, class Own>
void launch(Kernel kernel, const Step& step, const Own& own, std::int64_t numbers) {
  if (step.at.rows == 0) return;
  constexpr std::int64_t kUsual = 48 << 10;  // bytes a kernel gets unasked
  constexpr std::int64_t kMost = 96 << 10;   // bytes that every GPU from Ampere on has
  const std::int64_t bytes = numbers * static_cast<std::int64_t>(sizeof(T));
  if (bytes > kMost)
    fail<Unsupported>("attn: a decoder's step of ", step.at.keys_count, " keys, ",
                      step.at.key_dim, " features and ", step.at.columns,
                      " pooled columns on the gpu needs ", bytes, " bytes of shared memory; ",
                      kMost, " are accepted");
  if (bytes > kUsual)
    ATTN_CUDA_CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(kMost)));
  kernel<<<static_cast<unsigned>(step.at.rows), kAttentionThreads,
           static_cast<std::size_t>(bytes), stream()>>>(step, own);
  check_launch();
}

template <class T>
std::int64_t room_forward(const AttentionSource<T>& at) {
  return 2 * at.key_dim + at.keys_count;
}
template <class T>
std::int64_t room_back(const AttentionSource<T>& at) {
  return at.columns + at.keys_count;
}

}  // namespace

template <class T>
void attend_and_gru(const AttentionStep<T>& attention, const CellStep<T>& cell) {
  launch<T>(&attention_kernel<T, 3, GruFinish<T>>, attention, GruFinish<T>{cell},
            room_forward(attention.at));
}
template <class T>
void attend_and_join(const AttentionStep<T>& attention, const JoinStep<T>& join) {
  launch<T>(&attention_kernel<T, 1, JoinFinish<T>>, attention,
            JoinFinish<T>{join, attention.at.columns}, room_forward(attention.at));
}
template <class T>
void attend_and_gru_backward(const AttentionStepBackward<T>& attention,
                             const CellStepBackward<T>& cell) {
  launch<T>(&attention_backward_kernel<T, 3, GruBegin<T>>, attention, GruBegin<T>{cell},
            room_back(attention.at));
}
template <class T>
void attend_and_join_backward(const AttentionStepBackward<T>& attention,
                              const JoinStepBackward<T>& join) {
  launch<T>(&attention_backward_kernel<T, 1, JoinBegin<T>>, attention,
            JoinBegin<T>{join, attention.at.columns}, room_back(attention.at));
}

template <class T>
void attention_keys_backward(const AttentionKeysBackward<T>& back) {
  const std::int64_t blocks = back.at.rows * back.at.keys_count;
  if (blocks == 0) return;
  if (blocks > INT32_MAX)
    fail<Unsupported>("attn: a decoder's source of ", blocks, " keys; 2^31 are accepted");
  keys_back_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream()>>>(back);
  check_launch();
}

// clang-format off
template void attend_and_gru(const AttentionStep<float>&, const CellStep<float>&);
template void attend_and_gru(const AttentionStep<double>&, const CellStep<double>&);
template void attend_and_join(const AttentionStep<float>&, const JoinStep<float>&);
template void attend_and_join(const AttentionStep<double>&, const JoinStep<double>&);
template void attend_and_gru_backward(const AttentionStepBackward<float>&, const CellStepBackward<float>&);
template void attend_and_gru_backward(const AttentionStepBackward<double>&, const CellStepBackward<double>&);
template void attend_and_join_backward(const AttentionStepBackward<float>&, const JoinStepBackward<float>&);
template void attend_and_join_backward(const AttentionStepBackward<double>&, const JoinStepBackward<double>&);
template void attention_keys_backward(const AttentionKeysBackward<float>&);
template void attention_keys_backward(const AttentionKeysBackward<double>&);
// clang-format on

}  // namespace attn::gpu
