/// Philox4x32-10: random words that are a function of position alone, so that forward,
/// backward and every tiling draw the same. Salmon, Moraes, Dror and Shaw, 2011.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/core/site.hpp"

namespace attn {

/// The upper and the lower word of the product of two words; SIMD lanes have their own.
ATTN_FN std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a) * b) >> 32);
}
ATTN_FN std::uint32_t multiply_low(std::uint32_t a, std::uint32_t b) {
  return a * b;
}

/// The word type of key positions: unsigned for int, the lanes' own for lanes.
template <class I>
struct WordOf {
  using type = I;
};
template <>
struct WordOf<int> {
  using type = std::uint32_t;
};

/// Four random words, or a counter.
template <class W>
struct PhiloxBlock {
  W a, b, c, d;
};

/// Ten rounds of Philox4x32 on a counter, under the key (low word of seed, high word).
template <class W>
ATTN_FN PhiloxBlock<W> philox(PhiloxBlock<W> counter, std::uint64_t seed) {
  const W first(static_cast<int>(0xD2511F53u));
  const W second(static_cast<int>(0xCD9E8D57u));
  auto low = static_cast<std::uint32_t>(seed);
  auto high = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const W a = multiply_high(second, counter.c) ^ counter.b ^ W(static_cast<int>(low));
    const W b = multiply_low(second, counter.c);
    const W c = multiply_high(first, counter.a) ^ counter.d ^ W(static_cast<int>(high));
    const W d = multiply_low(first, counter.a);
    counter = {a, b, c, d};
    low += 0x9E3779B9u;
    high += 0xBB67AE85u;
  }
  return counter;
}

/// The words of positions (batch, head, q .. q + 3, k), q being a multiple of 4: one block
/// serves four rows.
template <class I>
ATTN_FN PhiloxBlock<typename WordOf<I>::type> random_words(std::uint64_t seed, int batch,
                                                           int head, int q, I k) {
  using W = typename WordOf<I>::type;
  return philox<W>({W(k), W(q >> 2), W(head), W(batch)}, seed);
}

/// The word of one position: word q & 3 of the block with counter (k, q >> 2, head, batch).
template <class I>
ATTN_FN typename WordOf<I>::type random_word(std::uint64_t seed, int batch, int head, int q,
                                             I k) {
  const auto words = random_words(seed, batch, head, q, k);
  switch (q & 3) {
    case 0:
      return words.a;
    case 1:
      return words.b;
    case 2:
      return words.c;
    default:
      return words.d;
  }
}

/// A word as a number strictly between 0 and 1: (its upper 23 bits + 1/2) / 2^23, which float
/// holds exactly, so that every number type agrees.
template <class V, class W>
ATTN_FN V open_uniform(W word) {
  const Index<V> upper((word >> 9) & W(0x7fffff));
  return (real<V>(upper) + 0.5f) * 0x1p-23f;
}

/// The number between 0 and 1 that belongs to a position.
template <class V>
ATTN_FN V random_uniform(std::uint64_t seed, const Site<V>& at) {
  return open_uniform<V>(random_word(seed, at.batch, at.head, at.q, at.k));
}

}  // namespace attn
