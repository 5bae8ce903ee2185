/// A tile of scores on its way through the stages: modified, masked, padded with -inf.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/kernels/cpu/lane.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/tiles.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// Columns of a block that any query of the tile may look at, in whole vectors, and whether the
/// mask has to be asked inside.
struct Kept {
  int begin = 0;
  int end = 0;
  bool masked = false;
};

ATTN_FN Kept kept_columns(const Plan& plan, const TilePlace& at) {
  Kept kept{0, at.cols, false};
  if (plan.masks == nullptr) return kept;
  Block block{at.batch, at.head, {at.q, at.q + at.rows}, {at.k, at.k + at.cols}};
  const Cover all = plan.cover(plan.masks, block);
  if (all == Cover::none) return {0, 0, false};
  if (all == Cover::all) return kept;
  kept.masked = true;
  const auto empty = [&](int first, int end) ATTN_LAMBDA {
    block.k = {at.k + first, at.k + min(end, at.cols)};
    return plan.cover(plan.masks, block) == Cover::none;
  };
  while (kept.begin < kept.end && empty(kept.begin, kept.begin + kLanes)) kept.begin += kLanes;
  if (kept.begin >= kept.end) return {0, 0, false};
  // What is empty behind a window is often long.
  int end = round_up(at.cols, kLanes);
  for (int step = kTileCols; step >= kLanes; step /= 2)
    while (end - step > kept.begin && empty(end - step, end)) end -= step;
  kept.end = min(end, at.cols);
  return kept;
}

/// The first key from `k` on whose vector any query of the tile may look at, or `count`.
ATTN_FN int first_kept(const Plan& plan, const TilePlace& at, int k, int count) {
  if (plan.masks == nullptr) return k;
  Block block{at.batch, at.head, {at.q, at.q + at.rows}, {}};
  const auto empty = [&](int cols) ATTN_LAMBDA {
    block.k = {k, min(count, k + cols)};
    return plan.cover(plan.masks, block) == Cover::none;
  };
  if (k > 0 && k < count && empty(count - k)) return count;
  while (k < count && empty(kTileCols)) k += kTileCols;
  for (int half = kTileCols / 2; half >= kLanes && k < count; half /= 2)
    if (empty(half)) k += half;
  return min(k, count);
}

/// Keeps the similarities of a tile for the backward, if they are wanted.
ATTN_FN void keep_similarities(const Plan& plan, const TilePlace& at, const float* s,
                               std::int64_t stride) {
  if (plan.similarities.data == nullptr) return;
  for (int r = 0; r < at.rows; ++r) {
    float* kept = plan.similarity_row(at.batch, at.head, at.q + r) + at.k;
    const float* row = s + r * stride;
    int c = 0;
    for (; c + kLanes <= at.cols; c += kLanes) Lane::load(row + c).store(kept + c);
    if (c < at.cols) Lane::load(row + c).store(kept + c, at.cols - c);
  }
}

/// Zeros for similarities that a mask may leave out.
ATTN_FN void clear_similarities(const Plan& plan, const TilePlace& at) {
  if (plan.similarities.data == nullptr || plan.masks == nullptr) return;
  for (int r = 0; r < at.rows; ++r) {
    float* kept = plan.similarity_row(at.batch, at.head, at.q + r) + at.k;
    for (int c = 0; c < at.cols; ++c) kept[c] = 0.0f;
  }
}

/// s = the similarities that the forward kept of a tile.
ATTN_FN void recall_similarities(const Plan& plan, const TilePlace& at, float* s,
                                 std::int64_t stride) {
  for (int r = 0; r < at.rows; ++r) {
    const float* kept = plan.similarity_row(at.batch, at.head, at.q + r) + at.k;
    float* row = s + r * stride;
    int c = 0;
    for (; c + kLanes <= at.cols; c += kLanes) Lane::load(kept + c).store(row + c);
    if (c < at.cols) Lane::load(kept + c, at.cols - c).store(row + c);
  }
}

/// Applies a stage in place.
ATTN_FN void apply(const FlatStage& stage, const TilePlace& at, float* s, std::int64_t stride) {
  stage.ops->forward(stage.functor, stage.tables, at, s, stride);
}
/// The first `modifiers` score modifiers.
ATTN_FN void modify(const Plan& plan, int modifiers, const TilePlace& at, float* s,
                    std::int64_t stride) {
  for (int m = 0; m < modifiers; ++m) apply(plan.scores[m], at, s, stride);
}
ATTN_FN void apply_factors(const Plan& plan, const TilePlace& at, float* w,
                           std::int64_t stride) {
  for (int f = 0; f < plan.factor_count; ++f) apply(plan.weight_modifiers[f], at, w, stride);
}

/// Whole vectors of a tile.
ATTN_FN void copy_tile(int rows, int cols, const float* from, std::int64_t from_stride,
                       float* to, std::int64_t to_stride) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; c += kLanes)
      Lane::load(from + r * from_stride + c).store(to + r * to_stride + c);
}
/// rows [count, stride] *= factor, one factor a row.
ATTN_FN void scale_rows(float* rows, std::int64_t stride, int count, const float* factor) {
  for (int r = 0; r < count; ++r) {
    if (factor[r] == 1.0f) continue;
    float* row = rows + r * stride;
    for (std::int64_t c = 0; c < stride; c += kLanes)
      (Lane::load(row + c) * Lane(factor[r])).store(row + c);
  }
}

/// Bytes of one row of mask bits, with room for whole vectors.
ATTN_FN std::int64_t bit_bytes(int cols) {
  return round_up(cols, 64) / 8;
}

/// Selects masked scores away.
[[gnu::noinline]] inline void apply_mask(const Plan& plan, const TilePlace& at, float* s,
                                         std::int64_t stride, std::uint8_t* bits_scratch) {
  const std::int64_t row_bytes = bit_bytes(at.cols);
  plan.keep(plan.masks, at, bits_scratch, row_bytes);
  for (int r = 0; r < at.rows; ++r) {
    const std::uint8_t* row = bits_scratch + r * row_bytes;
    for (int c = 0; c < at.cols; c += kLanes) {
      unsigned word = row[c / 8];
      if constexpr (kLanes == 4) word >>= c % 8;
      if constexpr (kLanes >= 16) word |= static_cast<unsigned>(row[c / 8 + 1]) << 8;
      float* place = s + r * stride + c;
      select(from_bits(word), Lane::load(place), Lane(-kInfinity)).store(place);
    }
  }
}

/// Fills the columns between `cols` and the end of their vector with `value`.
ATTN_FN void fill_tail(int rows, int cols, float* s, std::int64_t stride, float value) {
  const int end = round_up(cols, kLanes);
  if (end == cols) return;
  for (int r = 0; r < rows; ++r)
    for (int c = cols; c < end; ++c) s[r * stride + c] = value;
}

/// Applies the mask to the panels that it cuts through; those it keeps whole are left alone.
[[gnu::noinline]] inline void apply_mask_where_needed(const Plan& plan, const TilePlace& at,
                                                      float* s, std::int64_t stride,
                                                      std::uint8_t* bits_scratch) {
  const auto whole = [&](int column, int width) ATTN_LAMBDA {
    const int last = min(at.cols, column + width);
    const Block block{at.batch, at.head, {at.q, at.q + at.rows}, {at.k + column, at.k + last}};
    return plan.cover(plan.masks, block) == Cover::all;
  };
  // What is whole is often long: each step that holds is followed by one twice as long.
  int step = kPanel;
  for (int begin = 0; begin < at.cols;) {
    if (whole(begin, step)) {
      begin += step;
      step *= 2;
      continue;
    }
    if (step > kPanel) {
      step = kPanel;
      continue;
    }
    int end = begin + kPanel;
    while (end < at.cols && !whole(end, kPanel)) end += kPanel;
    TilePlace part = at;
    part.k = at.k + begin;
    part.cols = min(end, at.cols) - begin;
    apply_mask(plan, part, s + begin, stride, bits_scratch);
    begin = end + kPanel;
  }
}

/// Modifiers, mask, padding: what a normaliser wants to see.
ATTN_FN void finish_scores(const Plan& plan, const TilePlace& at, bool masked, float* s,
                           std::int64_t stride, std::uint8_t* bits_scratch) {
  modify(plan, plan.score_count, at, s, stride);
  if (masked) apply_mask_where_needed(plan, at, s, stride, bits_scratch);
  fill_tail(at.rows, at.cols, s, stride, -kInfinity);
}

}  // namespace attn::cpu::inline ATTN_TARGET
