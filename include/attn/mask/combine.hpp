/// Masks from masks: and, or, not.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"

namespace attn::mask {

/// A mask that says so: cover() is a few instructions, so that a GPU asks for whole tiles.
template <class M>
concept CheapCover = requires { requires M::kCoversCheaply; };

/// Keeps what both keep.
template <MaskFunctor A, MaskFunctor B>
struct And {
  static constexpr bool kCoversCheaply = CheapCover<A> && CheapCover<B>;
  A a;
  B b;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    return a.keep(at) & b.keep(at);
  }

  /// Exact where one side keeps none or both keep all.
  ATTN_FN Cover cover(const Block& block) const {
    const Cover first = a.cover(block);
    return first == Cover::none ? first : first & b.cover(block);
  }
};

/// Keeps what either keeps.
template <MaskFunctor A, MaskFunctor B>
struct Or {
  static constexpr bool kCoversCheaply = CheapCover<A> && CheapCover<B>;
  A a;
  B b;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    return a.keep(at) | b.keep(at);
  }

  ATTN_FN Cover cover(const Block& block) const {
    const Cover first = a.cover(block);
    return first == Cover::all ? first : first | b.cover(block);
  }
};

/// Keeps what the other drops.
template <MaskFunctor A>
struct Not {
  static constexpr bool kCoversCheaply = CheapCover<A>;
  A a;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    return !a.keep(at);
  }

  ATTN_FN Cover cover(const Block& block) const { return !a.cover(block); }
};

// clang-format off
template <MaskFunctor A, MaskFunctor B> constexpr And<A, B> both(A a, B b) { return {a, b}; }
template <MaskFunctor A, MaskFunctor B> constexpr Or<A, B> either(A a, B b) { return {a, b}; }
template <MaskFunctor A> constexpr Not<A> negate(A a) { return {a}; }

/// Causal::top_left() && Lengths{...}: the same in operators, for the masks of this folder.
template <MaskFunctor A, MaskFunctor B> constexpr And<A, B> operator&&(A a, B b) { return {a, b}; }
template <MaskFunctor A, MaskFunctor B> constexpr Or<A, B> operator||(A a, B b) { return {a, b}; }
template <MaskFunctor A> constexpr Not<A> operator!(A a) { return {a}; }
// clang-format on

}  // namespace attn::mask
