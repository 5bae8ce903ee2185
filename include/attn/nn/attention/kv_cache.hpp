/// KvCache: keys and values of earlier positions, so that each new token costs one row of
/// scores, in rows that beams take over from each other.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attn/tensor/attend.hpp"

namespace attn::nn {

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

/// Grows along the positions. Under NoGrad new positions are written in place behind the old
/// ones, into memory that doubles when it is full, and keys() and values() are views of it;
/// views handed out before stay as they were in length, but see no writes of later appends.
/// While ops are recorded the positions are joined on the tape instead, since what a gradient
/// needs may not be written over.
class KvCache {
 public:
  KvCache() = default;
  /// Room for `capacity` positions before the first growth.
  explicit KvCache(std::int64_t capacity) : capacity_(capacity) {}

  /// keys [rows, kv_heads, new positions, channels], values [rows, kv_heads, new positions,
  /// value channels].
  void append(const Tensor& keys, const Tensor& values);
  /// Goes on with other rows, under NoGrad. Nothing happens to an empty cache.
  void select(const RowMoves& moves);
  /// The same with whole rows, i64 [rows], as a GPU copies them.
  void select(const Tensor& rows);

  /// [rows, kv_heads, length(), channels]; not defined while the cache is empty.
  Tensor keys() const { return keys_.seen(length_); }
  Tensor values() const { return values_.seen(length_); }
  std::int64_t length() const { return length_; }

  /// Appends, then lets the queries of the new positions look at everything before them and at
  /// themselves: query i of T sees key j of S when j <= i + S - T. q [rows, heads, new
  /// positions, channels], heads a multiple of kv_heads.
  Attended attend_next(const Tensor& q, const Tensor& k, const Tensor& v,
                       const Want& want = Want::output);

 private:
  struct Part {
    Tensor memory;  ///< [rows, capacity, kv_heads, channels]
    Tensor joined;  ///< on the tape instead, [rows, kv_heads, positions, channels]

    Tensor seen(std::int64_t length) const;
    void append(const Tensor& added, std::int64_t length, std::int64_t capacity);
    void select(const RowMoves& moves, std::int64_t length);
  };

  std::int64_t capacity_ = 0;
  std::int64_t length_ = 0;
  Part keys_;
  Part values_;
};

}  // namespace attn::nn
