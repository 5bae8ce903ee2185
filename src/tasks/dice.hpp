/// Dice: whole numbers that are a function of a seed, the number of a picture and a count, so
/// that whatever is composed with them is the same on every machine.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "attn/core/philox.hpp"

namespace attn::tasks {

class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t index) : seed_(seed), index_(index) {}

  std::uint32_t word() {
    if (left_ == 0) {
      const auto block = philox<std::uint32_t>({drawn_++, static_cast<std::uint32_t>(index_),
                                                static_cast<std::uint32_t>(index_ >> 32), 0},
                                               seed_);
      const std::uint32_t words[] = {block.a, block.b, block.c, block.d};
      std::copy(std::begin(words), std::end(words), words_);
      left_ = 4;
    }
    return words_[--left_];
  }

  /// In [least, most].
  std::int64_t between(std::int64_t least, std::int64_t most) {
    const auto span = static_cast<std::uint64_t>(most - least + 1);
    return least + static_cast<std::int64_t>(word() * span >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t index_;
  std::uint32_t drawn_ = 0;
  std::uint32_t words_[4] = {};
  int left_ = 0;
};

}  // namespace attn::tasks
