/// A piece of the decoding path: how the keys of its sequences are cut, and what a piece leaves
/// for the others.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu {

/// Keys of one piece: 2 MiB of fp32 keys and values at 128 channels, so that starting and
/// merging a piece cost nothing beside reading it, and 64k keys still feed 32 threads.
inline constexpr int kPieceKeys = 2048;

/// Keys [k_begin, k_end) for all queries of the heads that share one kv head.
struct DecodePiece {
  int batch = 0;
  int kv_head = 0;
  int k_begin = 0;
  int k_end = 0;
};

/// What a piece leaves: for each row (query i of head h of the group: h * queries + i) the
/// normaliser's running numbers and the pooled values, not yet scaled.
struct DecodeState {
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
  ATTN_FN static DecodeState at(float* memory, std::int64_t rows, std::int64_t value_channels) {
    return {memory, memory + round(rows), memory + 2 * round(rows), round(value_channels)};
  }
};

}  // namespace attn::cpu
