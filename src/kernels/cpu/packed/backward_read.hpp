/// What the backward pass reads: blocks of keys and values, tiles of queries, their deltas.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/concepts.hpp"
#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/recipe.hpp"
#include "kernels/cpu/packed/backward_plan.hpp"
#include "kernels/cpu/packed/backward_scratch.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/similarity.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// Packs one block of keys and values for the backward products.
[[gnu::noinline]] inline void pack_block(const Plan& plan, int batch, int kv_head, int first,
                                         int count, BackwardScratch& scratch) {
  const int depth = depth_of(plan);
  const std::int64_t stride = scratch.g_stride;
  const RawRows k = plan.key_rows(plan.k, batch, kv_head);
  const float scale = plan.similarity == Similarity::dot ? plan.scale : 1.0f;
  scratch.keys = {scratch.key_rows, stride};
  if (scratch.short_head && lies_close(k)) {
    scratch.keys = float_rows(k, first, count, plan.channels, scratch.key_rows, stride);
  } else if (depth > 0) {
    read_rows(k, first, count, plan.channels, scratch.key_rows, stride);
    prepare_rows(plan, kv_head, Side::key, scratch.key_rows, stride, count);
  }
  // The panels are for the scores; additive gradients read them too.
  const bool scores = plan.similarities.data == nullptr;
  if (depth > 0 && (scores || plan.similarity == Similarity::additive))
    transpose_panels(scratch.keys.data, scratch.keys.stride, count, depth, scale,
                     scratch.key_panels);
  if (depth > 0 && !scratch.short_head) {
    for (int j = 0; j < count; ++j) {
      float* row = scratch.key_rows + j * stride;
      // dQ = dS (scale K): the scale is paid once a key here.
      if (scale != 1.0f)
        for (int c = 0; c < depth; ++c) row[c] *= scale;
      if (plan.similarity == Similarity::distance) row[depth] = 1.0f;
    }
    scratch.keys_finite = all_finite(scratch.key_rows, stride, count, depth);
  }
  const FloatRows values = float_rows(plan.key_rows(plan.v, batch, kv_head), first, count,
                                      plan.value_channels, scratch.rows, scratch.v_stride);
  transpose_panels(values.data, values.stride, count, plan.value_channels,
                   scratch.values_scaled ? scale : 1.0f, scratch.value_panels);
}

/// out . d_out of each row: what the softmax's gradient subtracts.
ATTN_FN void dot_rows(const FloatRows& out, const FloatRows& d_out, int count, int channels,
                      float* dots) {
  for (int r = 0; r < count; ++r) {
    const float* pooled = out.data + r * out.stride;
    const float* upstream = d_out.data + r * d_out.stride;
    // A row without keys is zero: what arrives there may not be finite.
    const auto add = [&](int c, Lane sum) ATTN_LAMBDA {
      const Lane o = Lane::load(pooled + c);
      const Lane d = Lane::load(upstream + c);
      return multiply_add(o, select(o == Lane(0.0f), Lane(0.0f), d), sum);
    };
    Lane sum[2] = {Lane(0.0f), Lane(0.0f)};
    int c = 0;
    for (; c + 2 * kLanes <= channels; c += 2 * kLanes) {
      sum[0] = add(c, sum[0]);
      sum[1] = add(c + kLanes, sum[1]);
    }
    for (; c < channels; c += kLanes) sum[0] = add(c, sum[0]);
    dots[r] = reduce_sum(sum[0] + sum[1]);
  }
}

/// What the statistics' own gradients, and the sum that `couple` left, make of delta.
ATTN_FN void finish_deltas(const BackwardPlan& bp, int batch, int head, int count,
                           const float* denominator, float* delta) {
  const Coupling coupling = bp.base.normaliser.coupling;
  const float* d_stat = bp.base.stat_row(bp.d_stat, batch, head);
  for (int i = 0; i < count; ++i) {
    if (coupling == Coupling::support)
      delta[i] = denominator[i] > 0.0f ? delta[i] / denominator[i] : 0.0f;
    if (coupling == Coupling::output && denominator != nullptr && denominator[i] > 0.0f)
      delta[i] /= denominator[i];
    if (coupling == Coupling::output && d_stat != nullptr)
      delta[i] -= d_stat[i * bp.d_stat.strides[2]];
  }
}

/// Whether delta can be had from the rows of a short head while they are read. Rows without
/// keys are not read, and a normaliser's own tables ask for the delta of every row.
ATTN_FN bool dots_on_the_way(const BackwardPlan& bp, int batch) {
  const FlatNormaliser& n = bp.base.normaliser;
  return !bp.couples && n.coupling != Coupling::none && n.slots == 0 &&
         is_short(bp.base, batch);
}

/// Reads one tile of queries with what goes with them.
ATTN_FN void read_queries(const BackwardPlan& bp, int batch, int head, int first, int count,
                          BackwardScratch& scratch) {
  const Plan& plan = bp.base;
  const RawRows q = plan.query_rows(plan.q, batch, head);
  const RawRows d_out = plan.query_rows(bp.d_out, batch, head);
  scratch.q = {scratch.q_rows, scratch.g_stride};
  scratch.d_out = {scratch.d_out_rows, scratch.v_stride};
  if (scratch.short_head && lies_close(d_out)) {
    scratch.d_out = float_rows(d_out, first, count, plan.value_channels, scratch.d_out_rows,
                               scratch.v_stride);
  } else {
    read_rows(d_out, first, count, plan.value_channels, scratch.d_out_rows, scratch.v_stride);
  }
  if (scratch.short_head && lies_close(q)) {
    scratch.q = float_rows(q, first, count, plan.channels, scratch.q_rows, scratch.g_stride);
  } else if (depth_of(plan) > 0) {
    read_rows(q, first, count, plan.channels, scratch.q_rows, scratch.g_stride);
    if (plan.similarity != Similarity::dot)
      prepare_rows(plan, head / plan.group, Side::query, scratch.q_rows, scratch.g_stride,
                   count);
    if (plan.similarity == Similarity::distance)
      for (int r = 0; r < count; ++r)
        scratch.q_rows[r * scratch.g_stride + plan.channels] = 1.0f;
  }
  if (!scratch.short_head) {
    scratch.queries_finite =
        all_finite(scratch.q.data, scratch.q.stride, count, depth_of(plan));
    scratch.d_out_finite =
        all_finite(scratch.d_out.data, scratch.d_out.stride, count, plan.value_channels);
  }
  const float* stat = plan.stat_row(plan.stat, batch, head);
  float* delta = bp.delta_row(batch, head);
  if (dots_on_the_way(bp, batch)) {
    const FloatRows out = float_rows(plan.query_rows(plan.out, batch, head), first, count,
                                     plan.value_channels, scratch.dq_rows, scratch.v_stride);
    dot_rows(out, scratch.d_out, count, plan.value_channels, delta);
    finish_deltas(bp, batch, head, count, nullptr, delta);
  }
  for (int r = 0; r < count; ++r) {
    scratch.stat[r] = stat[(first + r) * plan.stat.strides[2]];
    scratch.delta[r] = scratch.values_scaled ? delta[first + r] * plan.scale : delta[first + r];
  }
}

}  // namespace attn::cpu::inline ATTN_TARGET
