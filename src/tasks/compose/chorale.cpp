#include "tasks/compose/chorale.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {
namespace {

constexpr float kForbidden = -1e9f;

int pitch_in(std::string_view word, const std::string& where) {
  int pitch = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pitch);
  if (error != std::errc() || end != word.data() + word.size() || pitch < kLowest ||
      pitch > kHighest)
    fail<FileError>(where, ": ", files::in_quotes(word), " is no pitch; ", kLowest, " to ",
                    kHighest, " are accepted");
  return pitch;
}

void sort_step(Step& step) {
  std::sort(step.begin(), step.end());
  step.erase(std::unique(step.begin(), step.end()), step.end());
}

/// The outer voices, and of those between them the nearest to the middle.
void thin_out(Step& step) {
  const int low = step.front();
  const int high = step.back();
  Step inner(step.begin() + 1, step.end() - 1);
  std::stable_sort(inner.begin(), inner.end(), [&](int a, int b) {
    return std::abs(2 * a - low - high) < std::abs(2 * b - low - high);
  });
  inner.resize(kVoices - 2);
  inner.push_back(low);
  inner.push_back(high);
  step = inner;
  sort_step(step);
}

}  // namespace

std::vector<std::int64_t> tokens_of(const Steps& steps) {
  std::vector<std::int64_t> tokens;
  tokens.reserve(steps.size() * kVoices);
  for (const Step& step : steps)
    for (std::size_t voice = 0; voice < kVoices; ++voice)
      tokens.push_back(voice < step.size() ? step[voice] - kLowest + ChoraleTokens::kFirst
                                           : ChoraleTokens::kEnd);
  return tokens;
}

Steps steps_of(std::span<const std::int64_t> tokens) {
  Steps steps;
  for (std::size_t at = 0; at + kVoices <= tokens.size(); at += kVoices) {
    Step& step = steps.emplace_back();
    for (const std::int64_t token : tokens.subspan(at, kVoices))
      if (token >= ChoraleTokens::kFirst)
        step.push_back(static_cast<int>(token - ChoraleTokens::kFirst) + kLowest);
  }
  return steps;
}

void forbid(std::span<const std::int64_t> step, float* penalties) {
  std::fill_n(penalties, ChoraleTokens::kCount, kForbidden);
  penalties[ChoraleTokens::kEnd] = 0.0f;
  if (!step.empty() && step.back() == ChoraleTokens::kEnd) return;
  const std::int64_t first = step.empty() ? ChoraleTokens::kFirst : step.back() + 1;
  std::fill(penalties + first, penalties + ChoraleTokens::kCount, 0.0f);
}

Steps read_steps(std::string_view text, const std::string& where) {
  Steps steps;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    Step& step = steps.emplace_back();
    if (word == "-") continue;
    for (std::string_view rest = word; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find('/'));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      step.push_back(pitch_in(one, where));
    }
    sort_step(step);
    if (step.size() > kVoices)
      fail<FileError>(where, ": ", files::in_quotes(word), " has ", step.size(), " notes; ",
                      kVoices, " are accepted");
  }
  return steps;
}

std::string write_steps(const Steps& steps) {
  std::string text;
  for (const Step& step : steps) {
    if (!text.empty()) text += ' ';
    for (std::size_t i = 0; i < step.size(); ++i)
      text += (i == 0 ? "" : "/") + std::to_string(step[i]);
    if (step.empty()) text += '-';
  }
  return text;
}

Steps steps_of(const Music& music, std::size_t* crowded) {
  const std::int64_t end = std::min(music.end(), kMostTicks);
  Steps steps(static_cast<std::size_t>((end + kQuarter / 2) / kQuarter));
  for (const Note& note : music.notes) {
    if (note.pitch < kLowest || note.pitch > kHighest) continue;
    // What begins or ends off the beat counts from the nearest beat.
    const std::int64_t first = (note.begin + kQuarter / 2) / kQuarter;
    const std::int64_t last = (note.begin + note.length + kQuarter / 2) / kQuarter;
    for (std::int64_t at = std::max<std::int64_t>(0, first);
         at < std::min(last, static_cast<std::int64_t>(steps.size())); ++at)
      steps[static_cast<std::size_t>(at)].push_back(note.pitch);
  }
  for (Step& step : steps) {
    sort_step(step);
    if (step.size() <= kVoices) continue;
    thin_out(step);
    if (crowded != nullptr) ++*crowded;
  }
  return steps;
}

Music music_of(const Steps& steps, double tempo) {
  Music music;
  music.tempo = tempo;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const int pitch : steps[i])
      music.notes.push_back({static_cast<std::int64_t>(i) * kQuarter, kQuarter, pitch});
  return music;
}

}  // namespace attn::tasks::compose
