/// Keys and values as the forward streams over them, packed as its queries come to them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/kernel_table.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/similarity.hpp"
#include "kernels/cpu/tiles.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// Keys and values of one kv head, packed for the products.
struct PackedKeys {
  int count = 0;
  Span ready;                        ///< the others are not packed
  float* keys = nullptr;             ///< panels [depth, kPanel]
  float* value_panels = nullptr;     ///< [count, kPanel]
  FloatRows value_rows{nullptr, 0};  ///< where they lie, if that is as good as panels
  int checked = 0;                   ///< the end of those that values_finite speaks of
  bool values_finite = true;         ///< until they are checked

  /// Values of keys from `key` on, a panel of channels from `channel` on.
  ATTN_FN Right values(int channel, int key) const {
    if (value_rows.data != nullptr)
      return {value_rows.data + key * value_rows.stride + channel, value_rows.stride};
    return {value_panels + static_cast<std::int64_t>(channel) * count +
                static_cast<std::int64_t>(key) * kPanel,
            kPanel};
  }
};

/// Whether some of these queries may look at some of these keys.
ATTN_FN bool looked_at(const Plan& plan, const ForwardRun& run, Span queries, Span keys) {
  if (plan.masks == nullptr || !plan.streams) return true;
  for (int h = run.kv_head * plan.group; h < (run.kv_head + 1) * plan.group; ++h)
    if (plan.cover(plan.masks, {run.batch, h, queries, keys}) != Cover::none) return true;
  return false;
}

/// The first key that a query of the run may look at, in steps of what is packed at a time.
ATTN_FN int keys_begin(const Plan& plan, const ForwardRun& run, int count) {
  const Span queries{run.q_begin, run.q_end};
  int begin = 0;
  while (begin < count &&
         !looked_at(plan, run, queries, {begin, min(begin + kPackRows, count)}))
    begin += kPackRows;
  return min(begin, count);
}
/// The end of the keys from `begin` on that some of these queries may look at.
ATTN_FN int keys_end(const Plan& plan, const ForwardRun& run, Span queries, int begin,
                     int count) {
  int end = begin;
  while (end < count && looked_at(plan, run, queries, {end, count})) end += kPackRows;
  return min(end, count);
}

/// Packs the keys up to `end` that are not yet packed.
[[gnu::noinline]] inline void pack_keys(const Plan& plan, const ForwardRun& run, int end,
                                        float* rows, PackedKeys& packed) {
  const int depth = depth_of(plan);
  const int key_stride = round_up(max(depth, plan.channels), kLanes);
  const int value_stride = round_up(plan.value_channels, kLanes);
  const RawRows k = plan.key_rows(plan.k, run.batch, run.kv_head);
  const RawRows v = plan.key_rows(plan.v, run.batch, run.kv_head);
  // Few queries do not earn back what a copy of the values costs, nor do those that a mask
  // leaves few keys, if a row of a panel is more than a cache line: single lines that lie apart
  // share few sets (Zen 4, causal, N4096 D64: 1 % faster with AVX-512 so, 2 % slower with
  // AVX2).
  constexpr bool kWide = kPanel * sizeof(float) > 64;
  const bool few = plan.group * plan.queries(run.batch) <= kShortQueries;
  if ((few || (kWide && plan.masks != nullptr)) && lies_close(v) &&
      lies_as_float(v, plan.value_channels))
    packed.value_rows = float_rows(v, 0, packed.count, plan.value_channels, nullptr, 0);
  for (int& j = packed.ready.end; j < end; j = min(j + kPackRows, end)) {
    const int count = min(end - j, kPackRows);
    float* panels = packed.keys + static_cast<std::int64_t>(j) * depth;
    if (plan.similarity == Similarity::dot) {
      const FloatRows keys = float_rows(k, j, count, plan.channels, rows, key_stride);
      transpose_panels(keys.data, keys.stride, count, depth, plan.scale, panels);
    } else if (depth > 0) {
      read_rows(k, j, count, plan.channels, rows, key_stride);
      prepare_rows(plan, run.kv_head, Side::key, rows, key_stride, count);
      transpose_panels(rows, key_stride, count, depth, 1.0f, panels);
    }
    if (packed.value_rows.data != nullptr) continue;
    const FloatRows values = float_rows(v, j, count, plan.value_channels, rows, value_stride);
    slice_panels(values.data, values.stride, count, plan.value_channels,
                 packed.value_panels + static_cast<std::int64_t>(j) * kPanel, packed.count);
  }
}

/// Looks whether the values are finite. Asked for when an output is not: what is multiplied by
/// zero counts for nothing, and products then have to leave it out.
[[gnu::noinline]] inline void check_values(const Plan& plan, PackedKeys& packed) {
  for (int c = 0; c < plan.value_channels; c += kPanel) {
    const int left = round_up(plan.value_channels - c, kLanes);
    const Right rows = packed.values(c, packed.ready.begin);
    if (!all_finite(rows.data, rows.stride, packed.ready.end - packed.ready.begin,
                    min(left, kPanel)))
      packed.values_finite = false;
  }
  packed.checked = packed.ready.end;
}

}  // namespace attn::cpu::inline ATTN_TARGET
