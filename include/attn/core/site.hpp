/// Site, Span, Block and Cover: where a score is, and which scores a tile holds.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/macros.hpp"

namespace attn {

/// The type of key positions that goes with number type V: int for scalars, a vector of int for
/// SIMD lanes (specialised beside them).
template <class V>
struct IndexOf {
  using type = int;
};
template <class V>
using Index = typename IndexOf<V>::type;

/// Where a score is: query q meets key k. Lanes run along the keys, so q is always one number.
template <class V>
struct Site {
  int batch = 0;
  int head = 0;
  int q = 0;
  Index<V> k{};
};

/// Positions [begin, end).
struct Span {
  int begin = 0;
  int end = 0;
};

/// A rectangle of scores of one head.
struct Block {
  int batch = 0;
  int head = 0;
  Span q;
  Span k;
};

/// How much of a block a mask keeps. `some` is always a safe answer.
enum class Cover { none, some, all };

ATTN_FN Cover operator&(Cover a, Cover b) {
  if (a == Cover::none || b == Cover::none) return Cover::none;
  return a == Cover::all && b == Cover::all ? Cover::all : Cover::some;
}
ATTN_FN Cover operator|(Cover a, Cover b) {
  if (a == Cover::all || b == Cover::all) return Cover::all;
  return a == Cover::none && b == Cover::none ? Cover::none : Cover::some;
}
ATTN_FN Cover operator!(Cover a) {
  return a == Cover::none ? Cover::all : a == Cover::all ? Cover::none : Cover::some;
}

}  // namespace attn
