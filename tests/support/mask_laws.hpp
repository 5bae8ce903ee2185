/// The law of masks: what cover() says of a block is what keep() says of its pairs.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <ostream>

#include "attn/core/concepts.hpp"

namespace attn {

inline void PrintTo(Cover cover, std::ostream* out) {
  *out << (cover == Cover::none ? "none" : cover == Cover::all ? "all" : "some");
}

}  // namespace attn

namespace attn::test {

/// Whether a mask may answer `some` about a block of which it keeps none or all.
enum class Answers { exact, safe };

/// What keep() says of a block, pair by pair.
template <MaskFunctor M>
Cover counted_cover(const M& mask, const Block& block) {
  int kept = 0;
  int pairs = 0;
  for (int q = block.q.begin; q < block.q.end; ++q) {
    for (int k = block.k.begin; k < block.k.end; ++k) {
      kept += mask.keep(Site<double>{block.batch, block.head, q, k}) ? 1 : 0;
      ++pairs;
    }
  }
  return kept == 0 ? Cover::none : kept == pairs ? Cover::all : Cover::some;
}

/// Every block of every size, for two sequences and two heads. Keep the extents small.
template <MaskFunctor M>
void expect_cover_agrees(const M& mask, int queries, int keys,
                         Answers answers = Answers::exact) {
  for (int batch = 0; batch < 2; ++batch) {
    for (int head = 0; head < 2; ++head) {
      for (int q = 0; q < queries; ++q) {
        for (int q_end = q + 1; q_end <= queries; ++q_end) {
          for (int k = 0; k < keys; ++k) {
            for (int k_end = k + 1; k_end <= keys; ++k_end) {
              const Block block{batch, head, {q, q_end}, {k, k_end}};
              const Cover said = mask.cover(block);
              if (said == Cover::some && answers == Answers::safe) continue;
              ASSERT_EQ(said, counted_cover(mask, block))
                  << "batch " << batch << ", head " << head << ", queries [" << q << ", "
                  << q_end << "), keys [" << k << ", " << k_end << ")";
            }
          }
        }
      }
    }
  }
}

}  // namespace attn::test
