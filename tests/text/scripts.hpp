/// Text in many scripts, generated from a seed.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "attn/text/unicode.hpp"
#include "support/random.hpp"

namespace attn::text {

struct Script {
  char32_t first;
  char32_t last;
};

/// Letters, marks, signs and control characters; every code point of a range is meant, also
/// those that no Unicode version has assigned.
inline constexpr std::array<Script, 24> kScripts{{
    {U'a', U'z'},     {U'!', U'~'},     {0x01, 0x1f},       {0x7f, 0xbf},
    {0xc0, 0x24f},    {0x300, 0x36f},   {0x370, 0x3ff},     {0x400, 0x4ff},
    {0x590, 0x5ff},   {0x600, 0x6ff},   {0x900, 0x97f},     {0xe00, 0xe5b},
    {0x1100, 0x11ff}, {0x1e00, 0x1fff}, {0x2000, 0x206f},   {0x2070, 0x214f},
    {0x2580, 0x25ff}, {0x3000, 0x30ff}, {0x4e00, 0x4fff},   {0xac00, 0xae00},
    {0xf900, 0xfaff}, {0xfe00, 0xffef}, {0x1d400, 0x1d4ff}, {0x1f300, 0x1f64f},
}};

inline std::string random_word(test::Random& random, const Script& script) {
  std::u32string word;
  for (int i = random.whole(1, 7); i > 0; --i)
    word += static_cast<char32_t>(
        random.whole(static_cast<int>(script.first), static_cast<int>(script.last)));
  return to_utf8(word);
}

/// Words that come again and again, of every script.
inline std::vector<std::string> lexicon(test::Random& random, std::size_t words) {
  std::vector<std::string> out{
      "👨‍👩‍👧", "👍🏽", "e\u0301te\u0301", "naïve", "ﬁne", "किताब", "ภาษาไทย"};
  while (out.size() < words)
    out.push_back(random_word(random, kScripts[out.size() % kScripts.size()]));
  return out;
}

/// A line of words from the lexicon, common ones first, some of them broken or joined.
inline std::string random_line(test::Random& random, const std::vector<std::string>& words,
                               double strange) {
  std::string line;
  for (int i = random.whole(0, 9); i > 0; --i) {
    const double place = random.uniform(0.0, 1.0);
    if (random.uniform(0.0, 1.0) < strange)
      line += random_word(random, kScripts[static_cast<std::size_t>(random.whole(0, 23))]);
    else
      line +=
          words[static_cast<std::size_t>(place * place * static_cast<double>(words.size()))];
    const int gap = random.whole(0, 9);
    line += gap == 0 ? "" : gap == 1 ? "  " : gap == 2 ? "\t" : " ";
  }
  return line;
}

}  // namespace attn::text
