/// Sounds of three letters, each a stretch of bands that are loud.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>

#include "attn/tensor/random.hpp"
#include "tasks/las/features.hpp"

namespace attn::tasks::las {

/// A table of utterances and their frames, as the prepared files hold them.
struct Spoken {
  std::string table;
  std::string frames;
};

/// Letters A, B and C with silence between them, of thirty speakers to learn from and some
/// more.
inline Spoken spoken_letters(std::size_t count) {
  Random random(11);
  Spoken spoken;
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random.next() %
                                             static_cast<std::uint64_t>(most - least + 1));
  };
  for (std::size_t i = 0; i < count; ++i) {
    std::string words;
    std::string frames;
    const auto add = [&](std::int64_t length, std::int64_t low) {
      for (std::int64_t frame = 0; frame < length; ++frame)
        for (std::int64_t band = 0; band < kBands; ++band)
          frames += static_cast<char>(between(20, 28) +
                                      (low >= 0 && band >= low && band < low + 5 ? 60 : 0));
    };
    add(between(3, 8), -1);
    for (std::int64_t letter = between(1, 3); letter > 0; --letter) {
      const std::int64_t which = between(0, 2);
      words += (words.empty() ? "" : " ") + std::string(1, static_cast<char>('A' + which));
      add(between(12, 18), 2 + 8 * which);
      add(between(5, 10), -1);
    }
    const bool test = i % 8 == 7;
    spoken.table += std::to_string(spoken.frames.size()) + "\t" +
                    std::to_string(frames.size() / static_cast<std::size_t>(kBands)) + "\t" +
                    (test ? "test\tt" : "train\ts") + std::to_string(10 + i % 30) + "\tu" +
                    std::to_string(i) + "\t" + words + "\n";
    spoken.frames += frames;
  }
  return spoken;
}

}  // namespace attn::tasks::las
