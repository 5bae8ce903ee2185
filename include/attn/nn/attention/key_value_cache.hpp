/// KeyValueCache: keys and values of the past, so that each new token costs one row of scores.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// Grows along the positions. Under NoGrad new rows are written in place behind the old ones,
/// into memory that doubles when it is full, and keys() and values() are views of it; views
/// handed out before stay as they were in length, but see no writes of later appends. While
/// ops are recorded the rows are joined on the tape instead, since what a gradient needs may
/// not be written over.
class KeyValueCache {
 public:
  KeyValueCache() = default;
  /// Room for `capacity` positions before the first growth.
  explicit KeyValueCache(std::int64_t capacity) : capacity_(capacity) {}

  /// keys [batch, kv_heads, new positions, channels], values [batch, kv_heads, new positions,
  /// value channels].
  void append(const Tensor& keys, const Tensor& values);

  /// [batch, kv_heads, length(), channels]; not defined while the cache is empty.
  Tensor keys() const { return keys_.seen; }
  Tensor values() const { return values_.seen; }
  std::int64_t length() const { return length_; }

  /// Appends, then lets the queries of the new positions look at everything before them and at
  /// themselves: query i of T sees key j of S when j <= i + S - T. q [batch, heads, new
  /// positions, channels], heads a multiple of kv_heads.
  Attended attend_next(const Tensor& q, const Tensor& k, const Tensor& v,
                       const Want& want = Want::output);

 private:
  struct Rows {
    Tensor memory;  ///< [batch, heads, capacity, channels]
    Tensor seen;    ///< the first length rows of it, or what the tape joined
  };
  void append(Rows& rows, const Tensor& added) const;
  void write(Rows& rows, const Tensor& added) const;

  std::int64_t capacity_ = 0;
  std::int64_t length_ = 0;
  Rows keys_;
  Rows values_;
};

}  // namespace attn::nn
