/// Stages: the functors of one attention as a kernel's argument, and how they read their tables
/// and hand gradients back on the GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "attn/core/concepts.hpp"
#include "attn/core/error.hpp"
#include "attn/core/table.hpp"
#include "attn/kernels/stage.hpp"
#include "attn/score/chain.hpp"

namespace attn::gpu {

/// A table of float in the GPU's memory.
struct DeviceTable {
  const float* data = nullptr;
  std::int64_t strides[3] = {};
  int entry = 0;  ///< elements between entries: a product of two int is one instruction

  DeviceTable() = default;
  explicit DeviceTable(const Table& table) : data(static_cast<const float*>(table.data)) {
    if (table.data != nullptr && table.dtype != DType::f32)
      fail<Unsupported>("attn::gpu: a table holds ", name_of(table.dtype),
                        "; the kernels of the GPU read f32");
    for (std::size_t axis = 0; axis < 3; ++axis) strides[axis] = table.strides[axis];
    entry = static_cast<int>(table.strides[3]);
    if (entry != table.strides[3])
      fail<Unsupported>("attn::gpu: the entries of a table lie ", table.strides[3],
                        " elements apart; the kernels of the GPU take less than 2^31");
  }
};

/// Where a table's gradient goes; without data it is not wanted.
struct DeviceTableGrad {
  float* data = nullptr;
  std::int64_t strides[4] = {};

  DeviceTableGrad() = default;
  explicit DeviceTableGrad(const TableGrad& grad) : data(static_cast<float*>(grad.data)) {
    if (grad.data != nullptr && grad.dtype != DType::f32)
      fail<Unsupported>("attn::gpu: the gradient of a table is wanted in ", name_of(grad.dtype),
                        "; the kernels of the GPU write f32");
    for (std::size_t axis = 0; axis < 4; ++axis) strides[axis] = grad.strides[axis];
  }
};

/// Params of a functor, bound to one row of scores.
struct DeviceParams {
  const DeviceTable* tables = nullptr;
  int batch = 0;
  int head = 0;
  int q = 0;

  __device__ __forceinline__ float value(int slot) const { return at(slot, 0); }
  __device__ __forceinline__ float at(int slot, int index) const {
    const DeviceTable& t = tables[slot];
    return __ldg(t.data + batch * t.strides[0] + head * t.strides[1] + q * t.strides[2] +
                 static_cast<std::int64_t>(index) * t.entry);
  }
  template <class V>
  __device__ __forceinline__ float along(int slot, const Site<V>& site) const {
    return at(slot, site.k);
  }
};

/// Nobody wants gradients of tables.
struct NoGrads {
  // clang-format off
  __device__ __forceinline__ bool wants(int) const { return false; }
  template <class V> __device__ __forceinline__ void value(int, V) const {}
  template <class V> __device__ __forceinline__ void at(int, int, V) const {}
  template <class S, class V> __device__ __forceinline__ void along(int, const S&, V) const {}
  // clang-format on
};

/// Gradients of tables. What belongs to a row's entry 0 is summed in registers first: all
/// scores of a head may share it. Entries of longer tables are added where they are.
template <int kSlots>
struct DeviceGrads {
  const DeviceTableGrad* tables = nullptr;
  float* sums = nullptr;  ///< [kSlots]
  int batch = 0;
  int head = 0;
  int q = 0;

  __device__ __forceinline__ bool wants(int slot) const { return tables[slot].data != nullptr; }
  __device__ __forceinline__ void value(int slot, float grad) const { sums[slot] += grad; }
  __device__ __forceinline__ void at(int slot, int index, float grad) const {
    if (wants(slot)) atomicAdd(place(slot) + index * tables[slot].strides[3], grad);
  }
  template <class V>
  __device__ __forceinline__ void along(int slot, const Site<V>& site, float grad) const {
    at(slot, site.k, grad);
  }

  /// Adds what the lanes 4 g + t, g = 0.. 7, have summed for their common row; the whole warp
  /// comes here. Tables that all rows share wait for flush_head().
  __device__ __forceinline__ void flush_row(bool row_exists) const {
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      if (!wants(slot) || tables[slot].strides[2] == 0) continue;
      flush<4>(slot, row_exists && (threadIdx.x & 31) < 4);
    }
  }
  __device__ __forceinline__ void flush_head() const {
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      if (!wants(slot) || tables[slot].strides[2] != 0) continue;
      flush<1>(slot, (threadIdx.x & 31) == 0);
    }
  }

 private:
  __device__ __forceinline__ float* place(int slot) const {
    const DeviceTableGrad& t = tables[slot];
    return t.data + batch * t.strides[0] + head * t.strides[1] + q * t.strides[2];
  }
  template <int kNearest>
  __device__ __forceinline__ void flush(int slot, bool adds) const {
    float sum = sums[slot];
#pragma unroll
    for (int apart = 16; apart >= kNearest; apart /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (adds) atomicAdd(place(slot), sum);
    sums[slot] = 0.0f;
  }
};

/// The weights stay as they are.
struct NoFactor {
  static constexpr int kTables = 0;
};

/// A functor that chooses what to do at run time: its code is emitted once, in a loop.
template <class F>
inline constexpr bool kChosenAtRunTime = requires { F::kChosenAtRunTime; };

/// weight = factor(normaliser(mask(score(scale * q . k)))). Tables lie in the GPU's memory, in
/// the order of the functors' slots.
template <ScoreFunctor S, MaskFunctor M, Normaliser N, class F = NoFactor>
struct Stages {
  static constexpr int kScoreTables = score::kTablesOf<S>;
  static constexpr int kNormaliserTables = score::kTablesOf<N>;
  static constexpr int kFactorTables = score::kTablesOf<F>;
  static constexpr bool kRolled = kChosenAtRunTime<S>;
  static constexpr bool kHasFactor = !std::is_same_v<F, NoFactor>;
  static_assert(StreamingNormaliser<N>, "the GPU's kernels need a normaliser that streams");

  template <int kCount>
  struct Tables {
    DeviceTable data[kCount > 0 ? kCount : 1];

    Tables() = default;
    Tables(std::initializer_list<Table> given) {  // NOLINT(google-explicit-constructor)
      if (given.size() != static_cast<std::size_t>(kCount))
        fail("attn::gpu::Stages: ", given.size(), " tables; the functor reads ", kCount);
      int slot = 0;
      for (const Table& t : given) data[slot++] = DeviceTable(t);
    }
  };

  float scale = 1.0f;
  S score{};
  M mask{};
  N normaliser{};
  F factor{};
  Tables<kScoreTables> score_tables{};
  Tables<kNormaliserTables> normaliser_tables{};
  Tables<kFactorTables> factor_tables{};
};

/// Where the gradients of a Stages' tables go.
template <class St>
struct StagesGrads {
  template <int kCount>
  struct Tables {
    DeviceTableGrad data[kCount > 0 ? kCount : 1];

    bool wanted() const {
      for (const DeviceTableGrad& t : data)
        if (t.data != nullptr) return true;
      return false;
    }
  };
  Tables<St::kScoreTables> score{};
  Tables<St::kNormaliserTables> normaliser{};
  Tables<St::kFactorTables> factor{};
};

/// How a normaliser's gradients depend on each other; one chosen at run time knows it then.
template <class N>
Coupling coupling_of(const N& normaliser) {
  if constexpr (requires { normaliser.coupling(); }) {
    return normaliser.coupling();
  } else {
    return N::kCoupling;
  }
}

}  // namespace attn::gpu
