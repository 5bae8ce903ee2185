/// Shape: the extents of a tensor, or its strides. Small, copied, never on the heap.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn {

/// Up to kMaxRank numbers, one an axis. A negative axis counts from the end.
class Shape {
 public:
  static constexpr int kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents);
  explicit Shape(std::span<const std::int64_t> extents);
  /// `rank` extents, all equal.
  static Shape filled(int rank, std::int64_t extent);

  int rank() const { return rank_; }
  std::int64_t operator[](int axis) const { return extents_[place(axis)]; }
  std::int64_t& operator[](int axis) { return extents_[place(axis)]; }
  /// The product of the extents; 1 without axes.
  std::int64_t numel() const;

  void push_back(std::int64_t extent);
  void insert(int axis, std::int64_t extent);
  void erase(int axis);

  const std::int64_t* begin() const { return extents_.data(); }
  const std::int64_t* end() const { return extents_.data() + rank_; }
  std::span<const std::int64_t> span() const { return {begin(), end()}; }

  friend bool operator==(const Shape& a, const Shape& b);

  /// "[2, 3]".
  std::string text() const;

 private:
  std::size_t place(int axis) const;

  std::array<std::int64_t, kMaxRank> extents_{};
  int rank_ = 0;
};

/// Row-major strides of a shape.
Shape packed_strides(const Shape& shape);

/// The shape both broadcast to: axes are lined up at the end, and 1 stretches. Throws
/// InvalidArgument, beginning with `where`, if they do not.
Shape broadcast(const Shape& a, const Shape& b, const char* where);

/// `axis` counted from the front; throws InvalidArgument unless it lies in [-rank, rank).
int normal_axis(int axis, int rank, const char* where);

}  // namespace attn
