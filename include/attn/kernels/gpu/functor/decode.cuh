/// Decoding for any functors: check, choose from a closed list, launch.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "attn/core/error.hpp"
#include "attn/kernels/gpu/decode.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/gpu/functor/decode_attribute.cuh"
#include "attn/kernels/gpu/functor/decode_kernel.cuh"
#include "attn/kernels/gpu/functor/decode_matrix.cuh"
#include "attn/kernels/gpu/functor/decode_merge.cuh"
#include "attn/kernels/gpu/functor/splits.hpp"
#include "attn/kernels/gpu/functor/stages.cuh"  // IWYU pragma: export
#include "attn/mask/none.hpp"

namespace attn::gpu {

/// How the keys are cut.
struct DecodePlan {
  int rows = 1;    ///< of a block
  int chunks = 1;  ///< blocks that share the rows of a kv head
  int splits = 1;
};

/// What is known of the work besides its sizes.
enum class DecodeWork {
  even,    ///< every row looks at all keys
  uneven,  ///< by a mask or by lengths of pages, which are on the device
  rolled,  ///< functors chosen at run time
};

template <class T>
DecodePlan plan_decode(const ForwardArgs<T>& args, DecodeWork work) {
  constexpr std::int64_t kKeys = 256;  // of a block: enough to be worth a part of their own
  const auto& q = args.q.shape;
  const auto& k = args.k.shape;
  const std::int64_t rows = q[1] / k[1] * q[2];
  DecodePlan plan;
  // What is chosen at run time is a lot of code, which is not repeated for each row.
  plan.rows = rows == 1 || work == DecodeWork::rolled ? 1 : sizeof(T) == 2 ? 16 : 4;
  plan.chunks = static_cast<int>((rows + plan.rows - 1) / plan.rows);
  // Lengths of paged sequences are on the device: a table's size bounds them.
  const std::int64_t keys = args.paging.table == nullptr ? k[2] : args.paging.stride * k[2];
  const std::int64_t units = q[0] * k[1] * plan.chunks;
  if (units == 0 || keys == 0) return plan;
  const std::int64_t processors = device_attribute(cudaDevAttrMultiProcessorCount);
  const std::int64_t most = (keys + kKeys - 1) / kKeys;
  std::int64_t splits = 1;
  if (plan.rows < 16) {
    // A few rounds of blocks, so that the last ones end together (H200: 16 to 64 for each
    // multiprocessor were no faster, and merging their parts cost up to 7 %).
    splits = (8 * processors + units - 1) / units;
  } else if (work == DecodeWork::even && args.paging.table == nullptr) {
    // On the matrix units one block keeps a multiprocessor's share of the memory busy (H200:
    // two were 4 % slower, eight 20 %).
    splits = choose_splits(units, most, processors);
  } else {
    // Two whole rounds (6 % slower than one block), so that nobody waits for one long sequence.
    splits = 4 * processors / units;
  }
  plan.splits = static_cast<int>(std::clamp<std::int64_t>(splits, 1, most));
  return plan;
}

/// Throws unless decode() can serve the arguments. What is on the device is not looked at.
template <class T>
void check_decode(const ForwardArgs<T>& args) {
  constexpr const char* kWhere = "attn::gpu::decode";
  const auto& q = args.q.shape;
  const auto& k = args.k.shape;
  const auto& v = args.v.shape;
  if (args.packing.q != nullptr || args.packing.k != nullptr)
    fail<Unsupported>(kWhere, ": packed sequences; sequences in a batch or in pages are built");
  if (args.similarities.data != nullptr)
    fail<Unsupported>(kWhere, ": similarities are kept for a backward, which decoding lacks");
  if (k[1] < 1 || q[1] % k[1] != 0)
    fail(kWhere, ": ", q[1], " heads and ", k[1],
         " kv heads; heads must be a multiple of kv heads");
  if (args.paging.table == nullptr ? q[0] != k[0] : args.paging.lengths == nullptr || k[2] < 1)
    fail(kWhere, ": q has batch ", q[0], " and k has ", k[0],
         "; expected the same, or pages of at least one key with the sequences' lengths");
  if (v[0] != k[0] || v[1] != k[1] || v[2] != k[2] || q[3] != k[3])
    fail(kWhere, ": k is [", k[0], ", ", k[1], ", ", k[2], ", ", k[3], "], v [", v[0], ", ",
         v[1], ", ", v[2], ", ", v[3], "], and q has ", q[3],
         " channels; only the channels of v may differ");
  if (args.out.shape[0] != q[0] || args.out.shape[1] != q[1] || args.out.shape[2] != q[2] ||
      args.out.shape[3] != v[3])
    fail(kWhere, ": out must be [", q[0], ", ", q[1], ", ", q[2], ", ", v[3], "]");
  if (args.stat.data != nullptr &&
      (args.stat.shape[0] != q[0] || args.stat.shape[1] != q[1] || args.stat.shape[2] != q[2]))
    fail(kWhere, ": stat must be [", q[0], ", ", q[1], ", ", q[2], "]");
  if (q[2] > kMaxDecodeQueries)
    fail<Unsupported>(kWhere, ": ", q[2], " queries; built up to ", kMaxDecodeQueries,
                      ", more are work for attn::gpu::forward");
  if (std::max(q[3], v[3]) > kMaxDecodeChannels)
    fail<Unsupported>(kWhere, ": ", q[3], " channels and ", v[3],
                      " value channels; built up to ", kMaxDecodeChannels);
}

/// Whether rows start on 16 bytes and are made of whole ones.
template <class T>
bool aligned_rows(const View<const T, 4>& view) {
  constexpr std::int64_t kPiece = 16 / static_cast<std::int64_t>(sizeof(T));
  const auto& strides = view.strides;
  return reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0 && strides[3] == 1 &&
         view.shape[3] % kPiece == 0 && strides[0] % kPiece == 0 && strides[1] % kPiece == 0 &&
         strides[2] % kPiece == 0;
}

/// The kernel for plan.rows rows: on the matrix units where several rows of a 16-bit type share
/// keys.
template <class T, int kDim, class St>
void launch_decode(const ForwardArgs<T>& args, const St& stages, const DecodePlan& plan,
                   void* workspace, cudaStream_t stream) {
  const std::int64_t rows = args.q.shape[0] * args.q.shape[1] * args.q.shape[2];
  const auto values = static_cast<int>(args.v.shape[3]);
  DecodeLaunch<T> launch{.q = args.q, .k = args.k, .v = args.v, .paging = args.paging};
  launch.group = static_cast<int>(args.q.shape[1] / args.k.shape[1]);
  launch.chunks = plan.chunks;
  launch.vectors = aligned_rows(args.k) && aligned_rows(args.v);
  launch.parts = Partials::in(workspace, rows, plan.splits, values);
  const auto page_size = static_cast<std::uint64_t>(args.k.shape[2]);
  if (args.paging.table != nullptr && std::has_single_bit(page_size))
    launch.page_shift = std::countr_zero(page_size);
  using N = decltype(stages.normaliser);
  RowWriter<T, N> writer{.out = args.out, .stat = args.stat, .normaliser = stages.normaliser};
  std::copy_n(stages.normaliser_tables.data, std::size(writer.tables), writer.tables);
  const auto blocks =
      static_cast<unsigned>(args.q.shape[0] * args.k.shape[1] * plan.chunks * plan.splits);
  if (plan.rows == 1) {
    using Tile = DecodeTile<T, kDim, 1>;
    decode_kernel<Tile, T, St, N>
        <<<blocks, 32 * Tile::kWarps, 0, stream>>>(launch, stages, writer);
  } else if constexpr (!St::kRolled && sizeof(T) == 2) {
    using Tile = DecodeMatrixTile<T, kDim>;
    const auto kernel = decode_matrix_kernel<Tile, T, St, N>;
    ATTN_CUDA_CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(Tile::kSharedBytes)));
    kernel<<<blocks, 32 * Tile::kWarps, Tile::kSharedBytes, stream>>>(launch, stages, writer);
  } else if constexpr (!St::kRolled) {
    using Tile = DecodeTile<T, kDim, 4>;
    decode_kernel<Tile, T, St, N>
        <<<blocks, 32 * Tile::kWarps, 0, stream>>>(launch, stages, writer);
  }
  ATTN_CUDA_CALL(cudaGetLastError());
  if (plan.splits > 1) launch_merge(launch.parts, writer, stream);
}

/// What decode() needs at most, whatever the functors are.
template <class T>
std::size_t decode_workspace_bytes(const ForwardArgs<T>& args) {
  check_decode(args);
  const std::int64_t rows = args.q.shape[0] * args.q.shape[1] * args.q.shape[2];
  int splits = 1;
  for (const DecodeWork work : {DecodeWork::even, DecodeWork::uneven, DecodeWork::rolled})
    splits = std::max(splits, plan_decode(args, work).splits);
  return Partials::bytes(rows, splits, static_cast<int>(args.v.shape[3]));
}

/// decode() of attn/kernels/gpu/decode.hpp for functors of your own; the normaliser is a
/// softmax, with a sink or without, and there are no factors of the weights.
template <class T, ScoreFunctor S, MaskFunctor M, Normaliser N>
void decode(const ForwardArgs<T>& args, const Stages<S, M, N>& stages, void* workspace,
            Stream stream) {
  static_assert(N::kRunsMax && N::kCoupling == Coupling::output,
                "parts of the keys are merged as a softmax's, with a sink or without");
  check_decode(args);
  if (args.q.shape[0] * args.q.shape[1] * args.q.shape[2] == 0) return;
  const DecodePlan plan =
      plan_decode(args, Stages<S, M, N>::kRolled        ? DecodeWork::rolled
                        : std::is_same_v<M, mask::None> ? DecodeWork::even
                                                        : DecodeWork::uneven);
  if (plan.splits > 1 && workspace == nullptr)
    fail("attn::gpu::decode: no workspace; ", decode_workspace_bytes(args),
         " bytes of device memory are needed");
  const std::int64_t channels = std::max(args.q.shape[3], args.v.shape[3]);
  if (channels <= 64) {
    launch_decode<T, 64>(args, stages, plan, workspace, stream);
  } else if (channels <= 128) {
    launch_decode<T, 128>(args, stages, plan, workspace, stream);
  } else {
    launch_decode<T, 256>(args, stages, plan, workspace, stream);
  }
}

}  // namespace attn::gpu
