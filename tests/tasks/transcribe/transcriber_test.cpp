// Transcribing with a model of a few numbers: windows, notes, times, captions; and with the
// real one where it is in the cache.

#include "attn/tasks/transcribe/transcriber.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/transcribe/fetch.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/transcribe/transcript.hpp"
#include "attn/tasks/value.hpp"
#include "support/tolerance.hpp"
#include "support/wav.hpp"
#include "tasks/scratch.hpp"
#include "tasks/transcribe/fake_package.hpp"

namespace attn::tasks {
namespace {

class FakeSpeech : public testing::Test {
 protected:
  FakeSpeech() { test::FakePackage().write(scratch_.path()); }

  Transcriber transcriber() const { return Transcriber::load(scratch_.path(), "tiny"); }

  Scratch scratch_;
};

Sound sound_of(std::vector<float> samples) {
  return {kSpeechRate, std::move(samples)};
}

TEST_F(FakeSpeech, WritesWindowsAsTheyAreDone) {
  const Transcriber transcriber = this->transcriber();
  // 40 s without a pause: two windows, of which the first waits for the second.
  std::vector<float> samples(16000 * 40);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] =
        (i % 40 < 20 ? 0.3f : -0.3f) * (1.0f + 0.5f * static_cast<float>(i % 977) / 977);
  const Sound sound = sound_of(samples);
  std::vector<SpokenSegment> told;
  std::vector<double> shares;
  const Transcript transcript = transcriber(
      SoundSamples(sound), {.times = true,
                            .told =
                                [&](const SpokenSegment& segment) {
                                  told.push_back(segment);
                                  return true;
                                },
                            .progress = [&](double done) { shares.push_back(done); }});
  EXPECT_EQ(transcript.seconds, 40.0);
  EXPECT_EQ(shares, (std::vector<double>{26.0 / 40.0, 1.0}));
  ASSERT_EQ(told.size(), transcript.segments.size());
  double last = 0.0;
  for (const SpokenWord& word : transcript.words()) {
    EXPECT_GE(word.end, word.begin);
    EXPECT_GE(word.begin, 0.0);
    EXPECT_LE(word.end, 40.0);
    last = word.end;
  }
  EXPECT_GT(last, 0.0) << "the model said nothing; another seed of FakePackage may";
  // Who has heard enough ends it.
  int parts = 0;
  transcriber(SoundSamples(sound), {.told = [&](const SpokenSegment&) { return ++parts > 5; }});
  EXPECT_LE(parts, 1);
}

TEST_F(FakeSpeech, TellsOfSoundsWithoutWords) {
  const Transcriber transcriber = this->transcriber();
  const auto notes = [&](const std::vector<float>& samples) {
    const Sound sound = sound_of(samples);
    const Transcript transcript = transcriber(SoundSamples(sound));
    EXPECT_EQ(transcript.text(), "");
    EXPECT_TRUE(transcript.segments.empty());
    return transcript.notes;
  };
  for (const std::size_t count : {0u, 1u, 1000u}) {
    const auto short_notes = notes(std::vector<float>(count, 0.5f));
    ASSERT_EQ(short_notes.size(), 1u) << count << " samples";
    EXPECT_NE(short_notes[0].find("shorter than a tenth of a second"), std::string::npos);
  }
  const auto silent_notes = notes(std::vector<float>(16000 * 70, 0.0f));
  ASSERT_EQ(silent_notes.size(), 1u);
  EXPECT_EQ(silent_notes[0], "no speech was heard in it");
}

TEST_F(FakeSpeech, DrawsWhatItsWordsLookedAt) {
  const Sound sound = sound_of(test::tone(3.0));
  const Transcript transcript = transcriber()(SoundSamples(sound), {.map = true});
  ASSERT_NE(transcript.map, nullptr);
  const maps::Speech& map = *transcript.map;
  ASSERT_FALSE(map.words.empty());
  EXPECT_EQ(map.title, transcript.text());
  EXPECT_EQ(map.words.size(), transcript.words().size());
  EXPECT_EQ(map.begins.front(), transcript.words().front().begin) << "times come with it";
  EXPECT_EQ(map.seconds, 3.0);
  EXPECT_EQ(map.weights.rows, map.words.size());
  EXPECT_EQ(map.weights.columns, map.spectrogram.columns);
  EXPECT_NO_THROW(maps::validate(map));
}

TEST_F(FakeSpeech, DrawsEveryHeadOfTheDecoder) {
  const Sound sound = sound_of(test::tone(3.0));
  const maps::Heads map = transcriber().heads(SoundSamples(sound));
  EXPECT_EQ(map.maps.size(), 2u * 2u) << "two layers of two heads";
  EXPECT_NO_THROW(maps::validate(map));
  for (const maps::Head& head : map.maps) {
    ASSERT_EQ(head.weights.rows, map.rows.size());
    for (std::size_t row = 0; row < head.weights.rows; ++row) {
      float sum = 0.0f;
      for (std::size_t column = 0; column < head.weights.columns; ++column)
        sum += head.weights.at(row, column);
      EXPECT_NEAR(sum, 1.0f, test::kFloatSum) << "parts keep all of a word's weight";
    }
  }
}

TEST_F(FakeSpeech, TellsHowLikelyItsTokensWere) {
  const Sound sound = sound_of(test::tone(3.0));
  const Transcriber transcriber = this->transcriber();
  const Certainty certainty = transcriber(SoundSamples(sound)).certainty;
  const auto window = std::span(sound.samples);
  EXPECT_EQ(certainty.tokens, static_cast<std::int64_t>(transcriber.tokens(window).size()) - 1);
  // Of a choice among 24 the likeliest has at least an even share.
  EXPECT_LE(certainty.a_token(), 0.0);
  EXPECT_GE(certainty.a_token(), std::log(1.0 / test::FakePackage::kVocabulary));
}

TEST_F(FakeSpeech, RefusesWhatIsNoSuchSound) {
  const Sound slow{8000, {0.0f, 0.0f}};
  EXPECT_THROW(SoundSamples{slow}, InvalidArgument);
  const Sound broken = sound_of({0.0f, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_THROW(SoundSamples{broken}, InvalidArgument);
  EXPECT_THROW(Transcriber::load(scratch_.path() / "nowhere", "tiny"), FileError);
}

SpokenSegment segment_of(const std::vector<SpokenWord>& words) {
  return {words.front().begin, words.back().end, "", words};
}

TEST(Captions, AreCutAtSentencesPausesAndTwoLines) {
  Transcript transcript;
  transcript.seconds = 30.0;
  std::vector<SpokenWord> words{{"Hello.", 0.0, 0.5},
                                {"Mr.", 0.5, 0.75},
                                {"B", 0.75, 1.0},
                                {"<left>", 1.0, 1.5},
                                {"Later", 3.0, 3.25}};
  for (int i = 0; i < 24; ++i) words.push_back({"seven7s", 3.25 + 0.1 * i, 3.35 + 0.1 * i});
  transcript.segments = {segment_of(words)};
  const std::string srt = to_srt(transcript);
  EXPECT_TRUE(
      srt.starts_with("1\n00:00:00,000 --> 00:00:00,500\nHello.\n\n"
                      "2\n00:00:00,500 --> 00:00:01,500\nMr. B <left>\n\n"
                      "3\n00:00:03,000 --> "))
      << srt;
  const std::string line = "seven7s seven7s seven7s seven7s seven7s";
  EXPECT_NE(srt.find("\nLater " + line.substr(0, 31) + "\n" + line + "\n\n4\n"),
            std::string::npos)
      << srt;
  const std::string vtt = to_vtt(transcript);
  EXPECT_TRUE(
      vtt.starts_with("WEBVTT\n\n00:00:00.000 --> 00:00:00.500\nHello.\n\n"
                      "00:00:00.500 --> 00:00:01.500\nMr. B &lt;left&gt;\n\n"))
      << vtt;
}

TEST(Captions, StayInTheirTimes) {
  Transcript transcript;
  transcript.seconds = 7200.25;
  transcript.segments = {segment_of({{"Yes.", 3661.0, 3661.1}, {"No.", 7200.0, 7200.25}})};
  EXPECT_EQ(to_srt(transcript),
            "1\n01:01:01,000 --> 01:01:01,800\nYes.\n\n"
            "2\n02:00:00,000 --> 02:00:00,250\nNo.\n\n");
  EXPECT_EQ(to_srt(Transcript{}), "");
  EXPECT_EQ(to_vtt(Transcript{}), "WEBVTT\n\n");
}

// The package itself, where somebody has fetched it: it loads, and hears nothing in nothing.
TEST(RealSpeech, LoadsAndKeepsItsSizes) {
  for (const char* model : kSpeechModels) {
    if (!has_transcribe(model))
      GTEST_SKIP() << "the speech models are not in the cache; attn data transcribe fetches "
                      "them";
    const Transcriber transcriber = Transcriber::load(transcribe_folder(), model);
    const Sound sound = sound_of(std::vector<float>(16000, 0.0f));
    EXPECT_EQ(transcriber(SoundSamples(sound)).text(), "");
    // Dots and dashes of a tone are no words, but the tokens are those of the vocabulary.
    for (const std::int64_t token : transcriber.tokens(test::tone(1.0))) {
      EXPECT_GE(token, 1);
      EXPECT_LT(token, 32768);
    }
  }
}

}  // namespace
}  // namespace attn::tasks
