// Cutting long sounds at pauses, and merging windows that overlap.

#include "tasks/transcribe/windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/tasks/transcribe/transcript.hpp"
#include "support/tolerance.hpp"
#include "support/wav.hpp"
#include "tasks/transcribe/merge.hpp"

namespace attn::tasks {
namespace {

/// A tone without pauses, but where it is made silent.
std::vector<float> steady(double seconds) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * 16000.0));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = i % 40 < 20 ? 0.3f : -0.3f;
  return samples;
}

void silence(std::vector<float>& samples, double begin, double end) {
  std::fill(samples.begin() + static_cast<std::ptrdiff_t>(begin * 16000.0),
            samples.begin() + static_cast<std::ptrdiff_t>(end * 16000.0), 0.0f);
}

double seconds(std::int64_t samples) {
  return static_cast<double>(samples) / 16000.0;
}

constexpr double kFrame = 0.02;

TEST(Windows, AShortSoundIsOne) {
  for (const double length : {0.0, 0.5, 29.9, 30.0}) {
    const std::vector<float> samples = steady(length);
    const Window window = first_window(samples);
    EXPECT_EQ(window.length, static_cast<std::int64_t>(samples.size()));
    EXPECT_EQ(window.next, window.length);
  }
}

TEST(Windows, ALongSoundIsCutInTheMiddleOfItsLongestPause) {
  std::vector<float> samples = steady(31.0);
  silence(samples, 5.0, 7.0);    // too early
  silence(samples, 16.0, 16.3);  // shorter
  silence(samples, 20.0, 20.8);
  silence(samples, 25.0, 25.1);  // no pause
  const Window window = first_window(samples);
  EXPECT_NEAR(seconds(window.length), 20.4, kFrame);
  EXPECT_EQ(window.next, window.length);
}

TEST(Windows, OfEqualPausesTheLastIsTaken) {
  std::vector<float> samples = steady(40.0);
  silence(samples, 14.0, 14.4);
  silence(samples, 22.0, 22.4);
  EXPECT_NEAR(seconds(first_window(samples).length), 22.2, kFrame);
}

TEST(Windows, WithoutAPauseTwoOverlap) {
  const Window window = first_window(steady(31.0));
  EXPECT_EQ(seconds(window.length), 30.0);
  EXPECT_EQ(seconds(window.next), 26.0);
}

TEST(Windows, GoOnToTheEndOfAnySound) {
  std::vector<float> samples = steady(100.0);
  silence(samples, 40.0, 90.0);
  std::size_t at = 0;
  int count = 0;
  while (at < samples.size()) {
    const Window window = first_window(std::span(samples).subspan(at));
    ASSERT_GT(window.next, 0);
    ASSERT_LE(seconds(window.length), 30.0);
    at += static_cast<std::size_t>(window.next);
    ASSERT_LT(++count, 20);
  }
  EXPECT_EQ(at, samples.size());
}

TEST(Windows, SilenceIsWhatNobodyHears) {
  EXPECT_TRUE(is_silent({}));
  EXPECT_TRUE(is_silent(std::vector<float>(20000, 0.0005f)));
  std::vector<float> samples(20000, 0.0f);
  EXPECT_TRUE(is_silent(samples));
  std::fill(samples.begin() + 6400, samples.begin() + 6720, 0.01f);
  EXPECT_FALSE(is_silent(samples));
  EXPECT_FALSE(is_silent(test::tone(0.5)));
}

TEST(Quiet, IsTakenOffTheEndsOfAWord) {
  std::vector<float> samples = steady(3.0);
  silence(samples, 0.5, 1.0);
  silence(samples, 2.0, 3.0);
  const Quiet quiet(samples);
  const auto expect_span = [&](const SoundSpan& from, double begin, double end) {
    const SoundSpan seen = quiet.without(from);
    EXPECT_NEAR(seen.begin, begin, kFrame / 4) << from.begin << " to " << from.end;
    EXPECT_NEAR(seen.end, end, kFrame / 4) << from.begin << " to " << from.end;
  };
  expect_span({0.1, 0.4}, 0.1, 0.4);
  expect_span({0.7, 1.55}, 1.0, 1.55);
  expect_span({1.5, 2.6}, 1.5, 2.0);
  expect_span({0.7, 2.7}, 1.0, 2.0);
  expect_span({2.2, 2.8}, 2.2, 2.8);  // nothing else would be left
  expect_span({2.9, 9.0}, 2.9, 9.0);
  EXPECT_NEAR(Quiet({}).without({0.0, 1.0}).end, 1.0, test::kDouble);
}

std::vector<SpokenWord> words(const std::vector<std::string>& texts, double begin,
                              double each = 0.5) {
  std::vector<SpokenWord> result;
  for (const std::string& text : texts) {
    result.push_back({text, begin, begin + each});
    begin += each;
  }
  return result;
}

TEST(Merge, WordsThatBothHeardAreWrittenOnce) {
  // Seconds 26 to 30 are in both.
  const auto before = words({"so", "we", "went", "to", "the", "old", "hou-"}, 26.0);
  const auto after = words({"ent", "To", "the", "old", "house,", "and", "then"}, 26.3);
  const Joint joint = joint_of(before, after, 26.0, 30.0);
  EXPECT_EQ(joint.before, 5u);  // so we went to the | old house
  EXPECT_EQ(joint.after, 3u);
}

TEST(Merge, WithoutACommonWordTheMiddleCuts) {
  const auto before = words({"a", "b", "c", "d"}, 26.0, 1.0);
  const auto after = words({"v", "w", "x", "y"}, 26.0, 1.0);
  const Joint joint = joint_of(before, after, 26.0, 30.0);
  EXPECT_EQ(joint.before, 2u);
  EXPECT_EQ(joint.after, 2u);
}

TEST(Merge, WordsFarFromTheOverlapAreNotCompared) {
  auto before = words({"yes", "yes", "yes"}, 1.0);
  const auto after = words({"no", "no", "yes"}, 29.0, 2.0);
  const Joint joint = joint_of(before, after, 26.0, 30.0);
  EXPECT_EQ(joint.before, 3u);
  EXPECT_EQ(joint.after, 0u);
}

TEST(Merge, NothingIsLeftOutOfNothing) {
  const Joint joint = joint_of({}, {}, 0.0, 4.0);
  EXPECT_EQ(joint.before, 0u);
  EXPECT_EQ(joint.after, 0u);
}

}  // namespace
}  // namespace attn::tasks
