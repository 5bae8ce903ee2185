/// Additive attention for any functors: check, choose the tiles, launch.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/gpu/functor/additive_backward.cuh"
#include "attn/kernels/gpu/functor/additive_forward.cuh"
#include "attn/kernels/gpu/functor/decode_attribute.cuh"
#include "attn/kernels/gpu/functor/decode_merge.cuh"
#include "attn/kernels/gpu/functor/dispatch.cuh"
#include "attn/kernels/gpu/functor/splits.hpp"
#include "attn/kernels/gpu/functor/stages.cuh"  // IWYU pragma: export
#include "attn/normalise/softmax.hpp"

namespace attn::gpu {

/// Throws unless sizes agree and are built. What is on the device is not looked at.
template <class Args>
void check_additive(const char* where, const Args& args) {
  const auto& q = args.q.shape;
  const auto& k = args.k.shape;
  const auto& v = args.v.shape;
  if (args.packing.q != nullptr || args.packing.k != nullptr)
    fail<Unsupported>(where, ": packed sequences are not built; a batch with mask::Lengths is");
  if (k[1] < 1 || q[1] % k[1] != 0)
    fail(where, ": ", q[1], " heads and ", k[1],
         " kv heads; heads must be a multiple of kv heads");
  if (q[0] != k[0] || q[3] != k[3] || v[0] != k[0] || v[1] != k[1] || v[2] != k[2])
    fail(where, ": q is [", q[0], ", ", q[1], ", ", q[2], ", ", q[3], "], k [", k[0], ", ",
         k[1], ", ", k[2], ", ", k[3], "], v [", v[0], ", ", v[1], ", ", v[2], ", ", v[3],
         "]; batches, channels of q and k, and keys must agree");
  if (args.out.shape[0] != q[0] || args.out.shape[1] != q[1] || args.out.shape[2] != q[2] ||
      args.out.shape[3] != v[3])
    fail(where, ": out must be [", q[0], ", ", q[1], ", ", q[2], ", ", v[3], "]");
  if (std::max(q[3], v[3]) > kMaxAdditiveChannels)
    fail<Unsupported>(where, ": ", q[3], " channels and ", v[3],
                      " value channels; built up to ", kMaxAdditiveChannels);
  if (q[0] * q[1] > 65535)
    fail<Unsupported>(where, ": ", q[0], " x ", q[1], " heads; built up to 65535");
}

inline void check_additive_weights(const char* where, const Table& w, std::int64_t kv_heads,
                                   std::int64_t channels) {
  if ((w.data == nullptr && channels > 0) || w.dtype != DType::f32 || w.shape[3] != channels ||
      (w.shape[1] != 1 && w.shape[1] != kv_heads))
    fail(where, ": the weights must be [1, 1 or ", kv_heads, ", 1, ", channels, "] in f32");
}

inline int plan_additive(const ForwardArgs<float>& args) {
  using Tile = AdditiveForwardTile<1>;
  const std::int64_t tiles = (args.q.shape[2] + Tile::kQueries - 1) / Tile::kQueries;
  const std::int64_t units = tiles * args.q.shape[0] * args.q.shape[1];
  const std::int64_t steps = (args.k.shape[2] + Tile::kKeys - 1) / Tile::kKeys;
  if (units == 0 || steps == 0) return 1;
  return choose_splits(units, steps,
                       Tile::kBlocks * device_attribute(cudaDevAttrMultiProcessorCount));
}

/// What additive_forward() needs.
inline std::size_t additive_workspace_bytes(const ForwardArgs<float>& args) {
  check_additive("attn::gpu::additive_workspace_size", args);
  return Partials::bytes(args.q.shape[0] * args.q.shape[1] * args.q.shape[2],
                         plan_additive(args), static_cast<int>(args.v.shape[3]));
}

/// Lets a kernel have the shared memory that it asks for.
template <class Kernel>
void allow_shared(const char* where, Kernel kernel, std::size_t bytes) {
  const auto most =
      static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (bytes + kStaticShared > most)
    fail<Unsupported>(where, ": so many channels need ", bytes,
                      " bytes of shared memory; this device has ", most);
  ATTN_CUDA_CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(bytes)));
}

template <class Tile, class St>
void launch_additive_forward(const AdditiveForwardLaunch& launch, const St& stages,
                             cudaStream_t stream) {
  const auto& q = launch.args.q.shape;
  const auto kernel = additive_forward_kernel<Tile, St>;
  const std::size_t bytes = Tile::shared_bytes(static_cast<int>(q[3]));
  allow_shared("attn::gpu::additive_forward", kernel, bytes);
  const dim3 grid(static_cast<unsigned>((q[2] + Tile::kQueries - 1) / Tile::kQueries),
                  static_cast<unsigned>(launch.parts.splits),
                  static_cast<unsigned>(q[0] * q[1]));
  kernel<<<grid, Tile::kThreads, bytes, stream>>>(launch, stages);
  ATTN_CUDA_CALL(cudaGetLastError());
}

/// additive_forward() of attn/kernels/gpu/attention.hpp for functors of your own and w
/// [1, 1 or kv_heads, 1, channels]; |w| < 2^30.
template <ScoreFunctor S, MaskFunctor M>
void additive_forward(const ForwardArgs<float>& args, const Table& weights,
                      const Stages<S, M, normalise::Softmax>& stages, void* workspace,
                      Stream stream) {
  constexpr const char* kWhere = "attn::gpu::additive_forward";
  check_additive(kWhere, args);
  check_additive_weights(kWhere, weights, args.k.shape[1], args.q.shape[3]);
  if (args.paging.table != nullptr) fail<Unsupported>(kWhere, ": pages are not built");
  const std::int64_t rows = args.q.shape[0] * args.q.shape[1] * args.q.shape[2];
  if (rows == 0) return;
  const int splits = plan_additive(args);
  if (splits > 1 && workspace == nullptr)
    fail(kWhere, ": no workspace; ", additive_workspace_bytes(args),
         " bytes of device memory are needed");
  const auto values = static_cast<int>(args.v.shape[3]);
  AdditiveForwardLaunch launch{.args = args, .weights = DeviceTable(weights)};
  launch.group = static_cast<int>(args.q.shape[1] / args.k.shape[1]);
  launch.padded = AdditiveForwardTile<1>::padded(static_cast<int>(args.q.shape[3]));
  launch.parts = Partials::in(workspace, rows, splits, values);
  if (values <= 256) {
    launch_additive_forward<AdditiveForwardTile<1>>(launch, stages, stream);
  } else if (values <= 512) {
    launch_additive_forward<AdditiveForwardTile<2>>(launch, stages, stream);
  } else {
    launch_additive_forward<AdditiveForwardTile<4>>(launch, stages, stream);
  }
  if (splits > 1)
    launch_merge(launch.parts,
                 RowWriter<float, normalise::Softmax>{.out = args.out, .stat = args.stat},
                 stream);
}

template <class Tile, class St>
void launch_additive_backward(const BackwardArgs<float>& args, const Table& weights,
                              const St& stages, const TableGrad& d_weights,
                              cudaStream_t stream) {
  const auto kernel = additive_backward_kernel<Tile, St>;
  const std::size_t bytes =
      Tile::shared_bytes(static_cast<int>(args.q.shape[3]), static_cast<int>(args.v.shape[3]));
  allow_shared("attn::gpu::additive_backward", kernel, bytes);
  AdditiveBackwardLaunch launch{
      .args = args, .weights = DeviceTable(weights), .d_weights = DeviceTableGrad(d_weights)};
  launch.group = static_cast<int>(args.q.shape[1] / args.k.shape[1]);
  const std::int64_t key_tiles = (args.k.shape[2] + Tile::kRows - 1) / Tile::kRows;
  const std::int64_t query_tiles = (args.q.shape[2] + Tile::kRows - 1) / Tile::kRows;
  const std::int64_t units = key_tiles * args.k.shape[0] * args.k.shape[1];
  launch.splits = choose_splits(units, query_tiles * launch.group,
                                device_attribute(cudaDevAttrMultiProcessorCount));
  clear(args.dq, stream);
  if (launch.splits > 1) {
    clear(args.dk, stream);
    clear(args.dv, stream);
  }
  const dim3 grid(static_cast<unsigned>(key_tiles), static_cast<unsigned>(launch.splits),
                  static_cast<unsigned>(args.k.shape[0] * args.k.shape[1]));
  kernel<<<grid, Tile::kThreads, bytes, stream>>>(launch, stages);
  ATTN_CUDA_CALL(cudaGetLastError());
}

/// additive_backward() for functors of your own; d_weights without data is not wanted.
template <ScoreFunctor S, MaskFunctor M>
void additive_backward(const BackwardArgs<float>& args, const Table& weights,
                       const Stages<S, M, normalise::Softmax>& stages,
                       const TableGrad& d_weights, Stream stream) {
  constexpr const char* kWhere = "attn::gpu::additive_backward";
  check_additive(kWhere, args);
  check_additive_weights(kWhere, weights, args.k.shape[1], args.q.shape[3]);
  if (args.d_weights.given())
    fail<Unsupported>(kWhere, ": gradients that arrive at the weights are not built");
  if (d_weights.data != nullptr &&
      (d_weights.dtype != DType::f32 || d_weights.shape != weights.shape))
    fail(kWhere, ": the gradient of the weights must have their shape, in f32");
  if (args.out.data == nullptr || args.stat.data == nullptr || args.d_out.data == nullptr)
    fail(kWhere, ": out and stat as forward wrote them, and d_out, are needed");
  if (d_weights.data != nullptr)
    clear(
        View<float, 4>{static_cast<float*>(d_weights.data), d_weights.shape, d_weights.strides},
        stream);
  if (args.k.shape[2] == 0 || args.q.shape[0] * args.q.shape[1] * args.q.shape[2] == 0) {
    clear(args.dq, stream);
    clear(args.dk, stream);
    clear(args.dv, stream);
    return;
  }
  const auto most =
      static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  const auto channels = static_cast<int>(args.q.shape[3]);
  const auto values = static_cast<int>(args.v.shape[3]);
  if (AdditiveBackwardTile<32>::shared_bytes(channels, values) + kStaticShared <= most) {
    launch_additive_backward<AdditiveBackwardTile<32>>(args, weights, stages, d_weights,
                                                       stream);
  } else {
    launch_additive_backward<AdditiveBackwardTile<16>>(args, weights, stages, d_weights,
                                                       stream);
  }
}

}  // namespace attn::gpu
