/// The decoding forward pass, for few queries: keys and values are read once, where they lie,
/// and nothing is packed. Its speed is that of memory.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/core/site.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "kernels/cpu/decode/piece.hpp"
#include "kernels/cpu/decode/rows.hpp"
#include "kernels/cpu/kernel_table.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/score_tile.hpp"
#include "kernels/cpu/scratch.hpp"
#include "kernels/cpu/similarity.hpp"
#include "kernels/cpu/tiles.hpp"

namespace attn::cpu::inline ATTN_TARGET {

struct DecodeScratch {
  int queries;
  int rows;  ///< heads of the group x queries
  std::int64_t q_stride;
  float* q;        ///< prepared queries [rows, q_stride]
  float* weights;  ///< of the similarity [q_stride], zeros at the end
  float* s;        ///< [rows, kTileCols]
  float* rescale;
  float* scale;
  float* stat;
  float* state;  ///< of a lone piece
  float* group;  ///< keys or values that several rows share [kGroupKeys, group_stride]
  std::int64_t group_stride;
  std::uint8_t* bits;

  DecodeScratch(const Plan& plan, int batch, Scratch& scratch) {
    queries = plan.queries(batch);
    rows = plan.group * queries;
    q_stride = round_up(plan.channels > 2 ? plan.channels : 2, kLanes);
    q = scratch.take<float>(rows * q_stride);
    weights = scratch.take<float>(q_stride);
    s = scratch.take<float>(rows * kTileCols);
    for (float** numbers : {&rescale, &scale, &stat}) *numbers = scratch.take<float>(rows);
    state = scratch.take<float>(DecodeState::size(rows, plan.value_channels));
    const int widest = max(plan.channels, plan.value_channels);
    group_stride = round_up(widest, kLanes);
    group = scratch.take<float>(kGroupKeys * group_stride);
    bits = scratch.take<std::uint8_t>(plan.mask_buffers * queries * bit_bytes(kTileCols));
  }
};

/// Calls run(j, group size) for keys [first + j, ...), their rows being in scratch.group as
/// fp32.
template <class Run>
ATTN_FN void for_each_group(const RawRows& rows, int first, int count, int channels,
                            const DecodeScratch& scratch, const Run& run) {
  for (int j = 0; j < count; j += kGroupKeys) {
    const int size = min(kGroupKeys, count - j);
    read_rows(rows, first + j, size, channels, scratch.group, scratch.group_stride);
    run(j, size);
  }
}

/// s [rows, cols] = similarity of the prepared queries and keys [k, k + cols).
[[gnu::noinline]] inline void decode_scores(const Plan& plan, const DecodePiece& piece, int k,
                                            int cols, const DecodeScratch& scratch) {
  const RawRows keys = plan.key_rows(plan.k, piece.batch, piece.kv_head);
  const DecodeQueries q{scratch.q, scratch.q_stride, scratch.rows, plan.channels,
                        scratch.weights};
  if (scratch.rows == 1 && keys.channel == 1 && plan.similarity == Similarity::dot) {
    with_type(keys.dtype, [&](auto type) ATTN_LAMBDA {
      dot_in_place(keys.as<const decltype(type)>(), k, cols, plan.channels, q.data, scratch.s);
    });
    return;
  }
  for_each_group(keys, k, cols, plan.channels, scratch, [&](int j, int size) ATTN_LAMBDA {
    score_group(plan.similarity, q, scratch.group, scratch.group_stride, size, scratch.s + j,
                kTileCols);
  });
}

/// state.out += weights * values [k, k + cols).
[[gnu::noinline]] inline void decode_pool(const Plan& plan, const DecodePiece& piece, int k,
                                          int cols, const DecodeScratch& scratch,
                                          const DecodeState& state) {
  const RawRows values = plan.key_rows(plan.v, piece.batch, piece.kv_head);
  const int channels = plan.value_channels;
  if (scratch.rows == 1 && values.channel == 1) {
    with_type(values.dtype, [&](auto type) ATTN_LAMBDA {
      pool_in_place(values.as<const decltype(type)>(), k, cols, channels, scratch.s, state.out);
    });
    return;
  }
  for_each_group(values, k, cols, channels, scratch, [&](int j, int size) ATTN_LAMBDA {
    pool_group(scratch.group, scratch.group_stride, size, channels, scratch.rows, scratch.s + j,
               kTileCols, state.out, state.stride);
  });
}

/// Columns that any head of the group keeps.
ATTN_FN Kept kept_by_group(const Plan& plan, const DecodePiece& piece, TilePlace at) {
  Kept kept{at.cols, 0, false};
  const int head = piece.kv_head * plan.group;
  for (at.head = head; at.head < head + plan.group; ++at.head) {
    const Kept own = kept_columns(plan, at);
    if (own.begin == own.end) continue;
    kept.begin = min(own.begin, kept.begin);
    kept.end = max(own.end, kept.end);
    if (plan.masks == nullptr) break;
  }
  return kept.begin < kept.end ? kept : Kept{};
}

/// One tile of keys: scored, weighed and pooled.
ATTN_FN void decode_tile(const Plan& plan, const DecodePiece& piece, int k, int cols,
                         const DecodeScratch& scratch, const DecodeState& state) {
  TilePlace at{piece.batch, 0, 0, k, scratch.queries, cols};
  for (int h = 0; h < plan.group; ++h) {
    at.head = piece.kv_head * plan.group + h;
    clear_similarities(plan, at);
  }
  const Kept kept = kept_by_group(plan, piece, at);
  if (kept.begin == kept.end) return;
  at.k += kept.begin;
  at.cols = kept.end - kept.begin;
  decode_scores(plan, piece, at.k, at.cols, scratch);
  const FlatNormaliser& n = plan.normaliser;
  for (int h = 0; h < plan.group; ++h) {
    at.head = piece.kv_head * plan.group + h;
    const int first = h * scratch.queries;
    float* s = scratch.s + first * kTileCols;
    keep_similarities(plan, at, s, kTileCols);
    const Block block{at.batch, at.head, {0, at.rows}, {at.k, at.k + at.cols}};
    const bool masked = plan.masks != nullptr && plan.cover(plan.masks, block) != Cover::all;
    finish_scores(plan, at, masked, s, kTileCols, scratch.bits);
    n.ops->push(n.functor, at, s, kTileCols, state.reference + first, state.mass + first,
                scratch.rescale + first);
    apply_factors(plan, at, s, kTileCols);
  }
  scale_rows(state.out, state.stride, scratch.rows, scratch.rescale);
  decode_pool(plan, piece, at.k, at.cols, scratch, state);
}

/// Scales the pooled rows and writes them with their statistics.
[[gnu::noinline]] inline void write_state(const Plan& plan, const DecodePiece& piece,
                                          const DecodeScratch& scratch,
                                          const DecodeState& state) {
  const FlatNormaliser& n = plan.normaliser;
  for (int h = 0; h < plan.group; ++h) {
    const int head = piece.kv_head * plan.group + h;
    const int first = h * scratch.queries;
    n.ops->finish(n.functor, n.tables, {piece.batch, head, 0, 0, scratch.queries, 0},
                  state.reference + first, state.mass + first, scratch.scale + first,
                  scratch.stat + first);
  }
  scale_rows(state.out, state.stride, scratch.rows, scratch.scale);
  for (int h = 0; h < plan.group; ++h) {
    const int head = piece.kv_head * plan.group + h;
    const int first = h * scratch.queries;
    write_rows(state.out + first * state.stride, state.stride, scratch.queries,
               plan.value_channels, plan.query_rows(plan.out, piece.batch, head), 0);
    if (float* stat = plan.stat_row(plan.stat, piece.batch, head))
      for (int i = 0; i < scratch.queries; ++i)
        stat[i * plan.stat.strides[2]] = scratch.stat[first + i];
  }
}

/// What the rows of `from` must be multiplied by to join those of `other`; their common
/// reference goes to `reference`. A score as large as the other reference, pushed as one more
/// key, makes the normaliser say both.
ATTN_FN void meet(const Plan& plan, int rows, const float* from, const float* other, float* s,
                  float* reference, float* mass, float* rescale) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < kLanes; ++c) s[r * kLanes + c] = -kInfinity;
    s[r * kLanes] = other[r];
    reference[r] = from[r];
    mass[r] = 0.0f;
  }
  const FlatNormaliser& n = plan.normaliser;
  n.ops->push(n.functor, {0, 0, 0, 0, rows, 1}, s, kLanes, reference, mass, rescale);
}

/// Adds the state of later keys. A part without keys has reference -inf, mass 0 and out 0.
[[gnu::noinline]] inline void merge_state(const Plan& plan, const DecodeScratch& scratch,
                                          const DecodeState& into, const DecodeState& from) {
  const int rows = scratch.rows;
  float* old_scale = scratch.scale;
  float* new_scale = scratch.rescale;
  for (int r = 0; r < rows; ++r) old_scale[r] = new_scale[r] = 1.0f;
  if (plan.normaliser.runs_max) {
    float* reference = scratch.s + rows * kLanes;
    float* mass = reference + rows;
    meet(plan, rows, from.reference, into.reference, scratch.s, reference, mass, new_scale);
    meet(plan, rows, into.reference, from.reference, scratch.s, reference, mass, old_scale);
    for (int r = 0; r < rows; ++r) into.reference[r] = reference[r];
  }
  for (int r = 0; r < rows; ++r) {
    into.mass[r] = into.mass[r] * old_scale[r] + from.mass[r] * new_scale[r];
    float* to = into.out + r * into.stride;
    const float* more = from.out + r * from.stride;
    for (int c = 0; c < into.stride; c += kLanes) {
      const Lane old = Lane::load(to + c) * Lane(old_scale[r]);
      multiply_add(Lane::load(more + c), Lane(new_scale[r]), old).store(to + c);
    }
  }
}

inline std::size_t decode_bytes(const Plan& plan, int batch) {
  Scratch count;
  const DecodeScratch layout(plan, batch, count);
  return count.used;
}

/// Fills `states` with the state of a piece; null: the piece is all there is, and its result
/// is written.
inline void decode(const Plan& plan, const DecodePiece& piece, float* states,
                   std::byte* memory) {
  Scratch pieces{memory};
  const DecodeScratch scratch(plan, piece.batch, pieces);
  const DecodeState state = DecodeState::at(states == nullptr ? scratch.state : states,
                                            scratch.rows, plan.value_channels);
  for (int r = 0; r < scratch.rows; ++r) {
    state.reference[r] = plan.normaliser.runs_max ? -kInfinity : 0.0f;
    state.mass[r] = 0.0f;
  }
  for (std::int64_t c = 0; c < scratch.rows * state.stride; ++c) state.out[c] = 0.0f;
  for (int h = 0; h < plan.group; ++h) {
    const RawRows q = plan.query_rows(plan.q, piece.batch, piece.kv_head * plan.group + h);
    float* rows = scratch.q + h * scratch.queries * scratch.q_stride;
    read_rows(q, 0, scratch.queries, plan.channels, rows, scratch.q_stride);
    prepare_rows(plan, piece.kv_head, Side::query, rows, scratch.q_stride, scratch.queries);
  }
  read_weights(plan, piece.kv_head, scratch.weights, scratch.q_stride);
  for (int k = piece.k_begin; k < piece.k_end; k += kTileCols)
    decode_tile(plan, piece, k, min(kTileCols, piece.k_end - k), scratch, state);
  if (states == nullptr) write_state(plan, piece, scratch, state);
}

/// Merges the states of all pieces of a kv head, first to last, and writes the result.
inline void decode_merge(const Plan& plan, const DecodePiece& piece, float* states, int count,
                         std::byte* memory) {
  Scratch pieces{memory};
  const DecodeScratch scratch(plan, piece.batch, pieces);
  const std::int64_t size = DecodeState::size(scratch.rows, plan.value_channels);
  const DecodeState first = DecodeState::at(states, scratch.rows, plan.value_channels);
  for (int p = 1; p < count; ++p)
    merge_state(plan, scratch, first,
                DecodeState::at(states + p * size, scratch.rows, plan.value_channels));
  write_state(plan, piece, scratch, first);
}

}  // namespace attn::cpu::inline ATTN_TARGET
