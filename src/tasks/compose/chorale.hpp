/// Chorales as steps of a quarter note: the set of notes that sound in each, and the tokens of
/// such sets.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {

/// Notes of a step at most, one a voice, and tokens that a step takes.
inline constexpr std::size_t kVoices = 4;

/// The pitches that sound, each once, the lowest first; none: silence.
using Step = std::vector<int>;
using Steps = std::vector<Step>;

/// Tokens: padding, the beginning, the end of a step, then a token for each pitch of a piano. A
/// step is its notes, the lowest first, and end marks up to four tokens. What follows the first
/// end mark, or four notes, is certain, so the probabilities of all sets add up to 1.
struct ChoraleTokens {
  static constexpr std::int64_t kPad = 0;
  static constexpr std::int64_t kBegin = 1;
  static constexpr std::int64_t kEnd = 2;
  static constexpr std::int64_t kFirst = 3;
  static constexpr std::int64_t kCount = kFirst + kHighest - kLowest + 1;
};

std::vector<std::int64_t> tokens_of(const Steps& steps);
/// A last step that is not whole is left out.
Steps steps_of(std::span<const std::int64_t> tokens);

/// Which tokens may stand behind those of a step so far: kCount numbers, 0 where one may, and
/// -1e9 where it may not, to be added to logits.
void forbid(std::span<const std::int64_t> step, float* penalties);

/// "60/72/79/88 72/79 -": a step a word. FileError, which begins with `where`.
Steps read_steps(std::string_view text, const std::string& where);
std::string write_steps(const Steps& steps);

/// What sounds in each quarter; of more than four pitches the lowest, the highest and the two
/// between them that lie nearest to the middle. `crowded` counts such steps.
Steps steps_of(const Music& music, std::size_t* crowded = nullptr);
/// A note that sounds in steps side by side is struck in each.
Music music_of(const Steps& steps, double tempo);

}  // namespace attn::tasks::compose
