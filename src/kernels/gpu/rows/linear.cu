// Linear attention, rotary positions and cache writes on the GPU.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/gpu/linear.hpp"
#include "attn/pool/linear.hpp"
#include "kernels/gpu/rows/sizes.cuh"

namespace attn::gpu {
namespace {

constexpr int kColumns = 64;  ///< threads of a block: value channels of one kv head

/// A block holds some columns of the state of one kv head, a thread a column. Columns do not
/// depend on each other: to the definition each is a state of one value channel.
template <class T, class V>
__global__ void linear_kernel(LinearArgs<T> args, V* states) {
  extern __shared__ __align__(16) unsigned char shared[];
  const auto channels = static_cast<int>(args.q.shape[3]);
  const std::int64_t values = args.v.shape[3];
  const std::int64_t kv_heads = args.k.shape[1];
  const std::int64_t group = args.q.shape[1] / kv_heads;
  const std::int64_t unit = blockIdx.x;
  const std::int64_t b = unit / kv_heads;
  const std::int64_t kv = unit % kv_heads;
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.y) * kColumns + threadIdx.x;
  const bool here = j < values;
  const bool gated = pool::has_decay(args.rule);
  const bool one_decay = args.decay.shape[3] == 1;

  V* k = reinterpret_cast<V*>(shared);
  V* decay = k + channels;
  V* q = decay + channels;
  V* state = states + (unit * values + (here ? j : 0)) * channels;
  for (int c = 0; here && c < channels; ++c)
    state[c] = args.past.data == nullptr ? V(0.0f) : *args.past.at(b, kv, c, j);

  for (std::int64_t t = 0; t < args.q.shape[2]; ++t) {
    __syncthreads();
    for (int c = static_cast<int>(threadIdx.x); c < channels; c += kColumns) {
      k[c] = static_cast<V>(*args.k.at(b, kv, t, c));
      if (gated) decay[c] = static_cast<V>(*args.decay.at(b, kv, t, one_decay ? 0 : c));
    }
    __syncthreads();
    if (here) {
      const V v = static_cast<V>(*args.v.at(b, kv, t, j));
      const pool::LinearStep<V> step{
          k, &v, decay, 1,
          pool::has_delta(args.rule) ? static_cast<V>(*args.beta.at(b, kv, t)) : V(1.0f)};
      V write{};
      pool::linear_update(args.rule, step, channels, 1, state, &write);
    }
    for (std::int64_t h = kv * group; h < (kv + 1) * group; ++h) {
      __syncthreads();
      for (int c = static_cast<int>(threadIdx.x); c < channels; c += kColumns)
        q[c] = static_cast<V>(*args.q.at(b, h, t, c));
      __syncthreads();
      if (!here) continue;
      V out{};
      pool::linear_read(q, state, channels, 1, static_cast<V>(args.scale), &out);
      *args.out.at(b, h, t, j) = T(out);
    }
  }
  for (int c = 0; here && args.state.data != nullptr && c < channels; ++c)
    *args.state.at(b, kv, c, j) = state[c];
}

/// A thread a pair of channels, then one for each channel that is copied. Both of a pair are
/// read before either is written, so out may be x.
template <class T>
__global__ void rotate_kernel(RotaryArgs<T> args) {
  const std::int64_t heads = args.x.shape[1];
  const std::int64_t positions = args.x.shape[2];
  const std::int64_t pairs = args.cos.shape[2];
  const std::int64_t each = args.x.shape[3] - pairs;
  for_each_thread(args.x.shape[0] * heads * positions * each, [&](std::int64_t i) {
    const std::int64_t c = i % each;
    const std::int64_t position = i / each % positions;
    const std::int64_t head = i / each / positions % heads;
    const std::int64_t batch = i / each / positions / heads;
    const T* x = args.x.at(batch, head, position);
    T* out = args.out.at(batch, head, position);
    if (c >= pairs) {
      out[(c + pairs) * args.out.strides[3]] = x[(c + pairs) * args.x.strides[3]];
      return;
    }
    const bool picked = args.rows.data != nullptr;
    const std::int64_t row = picked ? *args.rows.at(batch, position) : position;
    const std::int64_t table = picked ? 0 : batch;
    turn_pair(args.pairs, c, pairs, *args.cos.at(table, row, c), *args.sin.at(table, row, c), x,
              args.x.strides[3], out, args.out.strides[3]);
  });
}

template <class T>
__global__ void write_cache_kernel(CacheArgs<T> args) {
  const std::int64_t heads = args.update.shape[1];
  const std::int64_t added = args.update.shape[2];
  const std::int64_t channels = args.update.shape[3];
  const std::int64_t rows = args.cache.shape[2];
  for_each_thread(args.update.shape[0] * heads * added * channels, [&](std::int64_t i) {
    const std::int64_t c = i % channels;
    const std::int64_t row = i / channels % added;
    const std::int64_t head = i / channels / added % heads;
    const std::int64_t batch = i / channels / added / heads;
    const std::int64_t start = args.starts == nullptr ? 0 : args.starts[batch] % rows;
    *args.cache.at(batch, head, (start + row) % rows, c) = *args.update.at(batch, head, row, c);
  });
}

}  // namespace

template <class T>
std::size_t linear_workspace(const LinearArgs<T>& args) {
  const auto& [batch, kv_heads, steps, channels] = args.k.shape;
  return static_cast<std::size_t>(batch * kv_heads * channels * args.v.shape[3]) *
         sizeof(StatOf<T>);
}

template <class T>
void linear(const LinearArgs<T>& args, void* workspace, Stream stream) {
  constexpr const char* kWhere = "attn::gpu::linear";
  using V = StatOf<T>;
  validate(args);
  if (workspace == nullptr && linear_workspace(args) > 0)
    fail(kWhere, ": no workspace; linear_workspace() says how many bytes it takes");
  const std::int64_t units = args.k.shape[0] * args.k.shape[1];
  const std::int64_t columns = (args.v.shape[3] + kColumns - 1) / kColumns;
  if (units == 0 || columns == 0) return;
  constexpr std::int64_t kMostColumns = 65535;
  constexpr std::size_t kMostShared = 48 * 1024;
  const std::size_t shared = 3 * static_cast<std::size_t>(args.q.shape[3]) * sizeof(V);
  if (columns > kMostColumns || shared > kMostShared)
    fail<Unsupported>(kWhere, ": ", args.q.shape[3], " channels and ", args.v.shape[3],
                      " value channels; built up to ", kMostShared / 3 / sizeof(V), " and ",
                      kMostColumns * kColumns);
  linear_kernel<T, V><<<dim3(static_cast<unsigned>(units), static_cast<unsigned>(columns)),
                        kColumns, shared, stream>>>(args, static_cast<V*>(workspace));
  ATTN_CUDA_CALL(cudaGetLastError());
}

template <class T>
void rotate(const RotaryArgs<T>& args, Stream stream) {
  validate_shapes(args);
  const std::int64_t threads = args.x.shape[0] * args.x.shape[1] * args.x.shape[2] *
                               (args.x.shape[3] - args.cos.shape[2]);
  launch_threads(&rotate_kernel<T>, threads, stream, args);
}

template <class T>
void write_cache(const CacheArgs<T>& args, Stream stream) {
  validate_shapes(args);
  const auto& [batch, heads, added, channels] = args.update.shape;
  launch_threads(&write_cache_kernel<T>, batch * heads * added * channels, stream, args);
}

#include "kernels/gpu/rows/linear_instances.inc"

}  // namespace attn::gpu
