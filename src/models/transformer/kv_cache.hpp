/// KvCache: keys and values of a decoding's earlier positions, in rows that beams take over
/// from each other.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attn/tensor/tensor.hpp"

namespace attn::models::transformer {

/// How rows become other rows.
struct RowMoves {
  /// Positions first, first + 1, ... of row `to` are those of row `from`.
  struct Move {
    std::int64_t to;
    std::int64_t from;
    std::int64_t first;
  };
  std::int64_t rows;  ///< afterwards; where it is what it was, rows not named stay
  std::vector<Move> moves;
};

/// Which step of which row wrote what a row has now. Beams of a source share all but their last
/// positions most of the time, and what is shared does not move.
class Ancestry {
 public:
  explicit Ancestry(std::int64_t rows) : origins_(static_cast<std::size_t>(rows)) {}

  void append();  ///< each row gets a position of its own
  RowMoves select(std::span<const std::int64_t> rows);

 private:
  std::vector<std::vector<std::int64_t>> origins_;  ///< [row, position]
  std::int64_t next_ = 0;
};

/// Of one layer: [rows, capacity, 2, heads, channels], which doubles when it is full.
class KvCache {
 public:
  /// One position: [rows, heads, 1, channels] each.
  void append(const Tensor& keys, const Tensor& values);
  /// Views of all positions so far, [rows, heads, positions, channels].
  Tensor keys() const;
  Tensor values() const;
  void select(const RowMoves& moves);

 private:
  void move_within(const RowMoves& moves);

  Tensor memory_;
  std::int64_t length_ = 0;
};

}  // namespace attn::models::transformer
