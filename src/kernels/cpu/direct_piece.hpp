/// A piece of the direct path: which sequences take it, how their keys are cut, and what a
/// piece leaves for the others.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu {

/// Keys of one piece: 2 MiB of fp32 keys and values at 128 channels, so that starting and
/// merging a piece cost nothing beside reading it, and 64k keys still feed 32 threads.
inline constexpr int kPieceKeys = 2048;

/// Reading keys and values in place beats packing them for few rows of scores (heads of a group
/// x queries), and for few queries of any number of heads: the packed path runs the heads one
/// by one. One thread, AVX2, 128 channels, 2048 keys, ns for a key and row, direct : packed:
/// 1 x 1 28 : 71, 1 x 8 10.2 : 13.2, 1 x 16 8.1 : 8.8, 8 x 1 10 : 28, 16 x 1 9.3 : 25.
inline constexpr int kDirectRows = 16;
inline constexpr int kDirectQueries = 4;
/// With no more keys than these more than kDirectQueries are packed: 16 queries and 16 keys of
/// 64 channels took 2.4 us a head direct, 1.5 us packed (AVX2).
inline constexpr int kFewKeys = 32;

/// Whether a sequence takes the direct path. Its own shape decides and nothing else, so that
/// neither the number of threads nor the rest of the batch changes a result. Whole-row
/// normalisers need all scores at once and stay with the packed path.
ATTN_FN bool takes_direct(const Plan& plan, int b) {
  const int queries = plan.queries(b);
  const bool few_rows = plan.group * queries <= kDirectRows && plan.keys(b) > kFewKeys;
  return plan.streams && (queries <= kDirectQueries || few_rows);
}

/// Keys [k_begin, k_end) for all queries of the heads that share one kv head.
struct DirectPiece {
  int batch = 0;
  int kv_head = 0;
  int k_begin = 0;
  int k_end = 0;
};

/// What a piece leaves: for each row (query i of head h of the group: h * queries + i) the
/// normaliser's running numbers and the pooled values, not yet scaled.
struct DirectState {
  float* reference;
  float* mass;
  float* out;  ///< [rows, stride]
  std::int64_t stride;

  ATTN_FN static std::int64_t round(std::int64_t count) {
    return (count + kTilePad - 1) / kTilePad * kTilePad;
  }
  ATTN_FN static std::int64_t size(std::int64_t rows, std::int64_t value_channels) {
    return 2 * round(rows) + rows * round(value_channels);
  }
  ATTN_FN static DirectState at(float* memory, std::int64_t rows, std::int64_t value_channels) {
    return {memory, memory + round(rows), memory + 2 * round(rows), round(value_channels)};
  }
};

}  // namespace attn::cpu
