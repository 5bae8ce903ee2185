// Files of music: MIDI byte for byte and damaged, ABC as it is written, sound without clicks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/random.hpp"
#include "support/tolerance.hpp"
#include "tasks/compose/abc.hpp"
#include "tasks/compose/chorale.hpp"
#include "tasks/compose/midi.hpp"
#include "tasks/compose/music.hpp"
#include "tasks/compose/synthesiser.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks::compose {
namespace {

using Bytes = std::vector<std::uint8_t>;

Music read(const Bytes& bytes) {
  return read_midi(std::as_bytes(std::span(bytes)), "the file");
}

std::string refusal(const Bytes& bytes) {
  return message_of<FileError>([&] { read(bytes); });
}

std::string refusal(const std::string& abc) {
  return message_of<FileError>([&] { read_abc(abc, "the file"); });
}

/// A file of format 0 with 96 ticks a quarter and these events.
Bytes midi(const Bytes& events, std::uint8_t claimed = 0) {
  Bytes file{'M', 'T', 'h', 'd', 0, 0, 0, 6, 0, 0, 0, 1, 0, 96, 'M', 'T', 'r', 'k', 0, 0, 0};
  file.push_back(claimed == 0 ? static_cast<std::uint8_t>(events.size()) : claimed);
  file.insert(file.end(), events.begin(), events.end());
  return file;
}

std::vector<int> pitches_of(const Music& music) {
  std::vector<int> pitches;
  for (const Note& note : music.notes) pitches.push_back(note.pitch);
  return pitches;
}

std::vector<std::int64_t> lengths_of(const Music& music) {
  std::vector<std::int64_t> lengths;
  for (const Note& note : music.notes) lengths.push_back(note.length);
  return lengths;
}

TEST(Midi, ReadsWhatItWrote) {
  Music music;
  music.tempo = 96.0;
  music.notes = {
      {0, kQuarter, 48}, {0, 2 * kQuarter, 60}, {kQuarter, 40000, 48}, {kQuarter, 7, 61}};
  sort_notes(music.notes);
  const Music back = read(write_midi(music));
  EXPECT_EQ(back.notes, music.notes);
  EXPECT_NEAR(back.tempo, music.tempo, test::kFloatTraining);
  EXPECT_TRUE(read(write_midi({})).notes.empty());
}

TEST(Midi, KnowsRunningStatusTempoAndNotesThatAreNeverLetGo) {
  const Bytes events{0,    0xFF, 0x51, 3,    0x0F, 0x42, 0x40,  // a second a quarter
                     0,    0x90, 60,   64,                      // C
                     96,   60,   0,                             // off, by a velocity of 0
                     0,    64,   64,                            // E, running status
                     0x81, 0x40, 0x99, 35,   9,                 // a drum, 192 ticks later
                     0,    0xF0, 1,    0xF7,                    // a message of the system
                     0,    0xC0, 5,                             // an instrument
                     0,    0xFF, 0x2F, 0};
  const Music music = read(midi(events));
  EXPECT_EQ(music.tempo, 60.0);
  EXPECT_EQ(music.notes, (std::vector<Note>{{0, kQuarter, 60}, {kQuarter, 2 * kQuarter, 64}}));
}

TEST(Midi, RefusesWhatIsDamaged) {
  const Bytes good = midi({0, 0x90, 60, 64, 96, 60, 0, 0, 0xFF, 0x2F, 0});
  EXPECT_EQ(refusal(good), "");
  for (std::size_t size = 0; size < good.size(); ++size) {
    if (size == 14) continue;  // a header that tells of a track that is not there
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(refusal(cut), "") << size;
  }
  EXPECT_NE(refusal(midi({0, 0x90, 60, 64}, 200)).find("200 more bytes"), std::string::npos);
  EXPECT_NE(refusal(midi({0, 60, 64})).find("has to begin"), std::string::npos);
  EXPECT_NE(refusal(midi({0, 0x90, 0x90, 64})).find("data byte"), std::string::npos);
  EXPECT_NE(refusal(midi({0xFF, 0xFF, 0xFF, 0xFF, 0, 0x90, 60, 64})).find("four bytes"),
            std::string::npos);
  EXPECT_NE(refusal(midi({0xFF, 0xFF, 0xFF, 0x7F, 0x90, 60, 64})).find("longer"),
            std::string::npos);
  EXPECT_NE(refusal(midi({0, 0xF8, 0})).find("system"), std::string::npos);
  EXPECT_NE(refusal(midi({0, 0xFF, 0x51, 3, 0, 0, 0})).find("no time"), std::string::npos);
  Bytes film = good;
  film[12] = 0xE8;
  EXPECT_NE(refusal(film).find("film"), std::string::npos);
  Bytes third = good;
  third[9] = 2;
  EXPECT_NE(refusal(third).find("format 2"), std::string::npos);
  EXPECT_NE(refusal(Bytes(100, 'x')).find("no MIDI file"), std::string::npos);
}

/// Whatever stands in a file, it is read or refused.
TEST(Midi, SurvivesChangedBytes) {
  const Bytes good =
      midi({0, 0x90, 60, 64, 96, 60, 0, 0, 0xFF, 0x51, 3, 1, 2, 3, 0, 0xFF, 0x2F, 0});
  Random random(5);
  for (int i = 0; i < 3000; ++i) {
    Bytes bytes = good;
    for (int change = 0; change < 3; ++change)
      bytes[random.next() % bytes.size()] = static_cast<std::uint8_t>(random.next());
    try {
      for (const Note& note : read(bytes).notes) EXPECT_GT(note.length, 0);
    } catch (const FileError&) {
    }
  }
}

TEST(Abc, ReadsKeysAccidentalsLengthsAndTuplets) {
  const Music music = read_abc(
      "X:1\nT:Of marks\nM:6/8\nL:1/8\nQ:1/4=90\nK:D % two sharps\n"
      "\"Em\"F2 =F/ F3/2 | F ^c' _B, (3ABc | !trill!d>e {g}f2- f z | [DFA]2 [1 x8 |]\n",
      "the file");
  EXPECT_EQ(music.tempo, 90.0);
  EXPECT_EQ(pitches_of(music),
            (std::vector<int>{66, 65, 65, 66, 85, 58, 69, 71, 73, 74, 76, 78, 62, 66, 69}));
  constexpr std::int64_t kEighth = kQuarter / 2;
  EXPECT_EQ(lengths_of(music),
            (std::vector<std::int64_t>{2 * kEighth, kEighth / 2, 3 * kEighth / 2, kEighth,
                                       kEighth, kEighth, 2 * kEighth / 3, 2 * kEighth / 3,
                                       2 * kEighth / 3, 3 * kEighth / 2, kEighth / 2,
                                       3 * kEighth, 2 * kEighth, 2 * kEighth, 2 * kEighth}));
}

TEST(Abc, VoicesSoundTogetherAndModesHaveTheirSharps) {
  const Music music = read_abc("M:4/4\nL:1/4\nK:Am\nV:1\nc d\nV:2\nA, B,\n[V:1] e2\n", "it");
  EXPECT_EQ(music.end(), 4 * kQuarter);
  EXPECT_EQ(music.notes.front().pitch, 57);
  EXPECT_EQ(pitches_of(read_abc("K:D Mixolydian\nFc\n", "it")), (std::vector<int>{66, 72}));
  EXPECT_EQ(pitches_of(read_abc("K:Bb\nBe\n", "it")), (std::vector<int>{70, 75}));
  EXPECT_EQ(pitches_of(read_abc("K:F#m\nFcG\n", "it")), (std::vector<int>{66, 73, 68}));
}

TEST(Abc, RefusesNumbersBeyondReason) {
  EXPECT_NE(refusal("L:1/0\nK:C\nA\n"), "");
  EXPECT_NE(refusal("K:C\nA999999999\n"), "");
  EXPECT_NE(refusal("L:4000/1\nK:C\nA4000\n"), "");
  EXPECT_NE(refusal(std::string(2 << 20, 'A')).find("bytes"), std::string::npos);
  std::string many = "L:1/512\nK:C\n";
  for (int i = 0; i < 30000; ++i) many += "A";
  EXPECT_NE(refusal(many).find("more than"), std::string::npos);
  EXPECT_TRUE(read_abc("no music here: \xff\x01 (((((3[[[\"\n[", "it").notes.size() < 20);
}

TEST(Abc, WhatIsWrittenOfStepsReadsBack) {
  const Steps steps{{60, 64, 67, 72}, {61, 66}, {}, {61}, {60, 61, 62, 63}, {21, 108}};
  const Music back = read_abc(write_abc(steps, 80.0), "it");
  EXPECT_EQ(back.tempo, 80.0);
  EXPECT_EQ(steps_of(back), steps);
}

TEST(Abc, AMelodyIsTheHighestNotes) {
  Music music;
  music.notes = {{0, kQuarter, 48}, {0, kQuarter, 72}, {2 * kQuarter, kQuarter, 61}};
  const Music back = read_abc(write_melody(music), "it");
  EXPECT_EQ(pitches_of(back), (std::vector<int>{72, 61}));
  EXPECT_EQ(back.notes[1].begin, 2 * kQuarter);
}

TEST(Notes, ATableIsCheckedAndReadsBack) {
  Music music;
  music.notes = {{0, kQuarter / 4, 60}, {kQuarter, kQuarter, 64}};
  EXPECT_EQ(music_of(table_of(music)).notes, music.notes);
  const auto wrong = [](Table table) {
    return message_of<InvalidArgument>([&] { music_of(table); });
  };
  EXPECT_NE(wrong({{"begin", "length"}, {}}).find("pitch"), std::string::npos);
  const Table one{{"begin", "length", "pitch"}, {{0.0, 1.0, 60.0}}};
  EXPECT_EQ(wrong(one), "");
  for (const Table::Cell& pitch : std::vector<Table::Cell>{60.5, -1.0, 128.0, "C4", NAN}) {
    Table bad = one;
    bad.rows[0][2] = pitch;
    EXPECT_NE(wrong(bad), "");
  }
  for (const double begin : {-1.0, 1e12, static_cast<double>(NAN)}) {
    Table bad = one;
    bad.rows[0][0] = begin;
    EXPECT_NE(wrong(bad), "");
  }
}

/// The largest step between samples side by side.
float largest_step(const std::vector<float>& samples) {
  float largest = std::abs(samples.front());
  for (std::size_t i = 1; i < samples.size(); ++i)
    largest = std::max(largest, std::abs(samples[i] - samples[i - 1]));
  return std::max(largest, std::abs(samples.back()));
}

TEST(Synthesiser, IsLoudWithoutClicksAndHasTheRightPitch) {
  Music music;
  music.tempo = 60.0;
  music.notes = {{0, kQuarter, 57}};
  const Sound sound = play(music, 22050);
  const auto [low, high] = std::minmax_element(sound.samples.begin(), sound.samples.end());
  EXPECT_NEAR(std::max(-*low, *high), 0.9f, test::kFloatSum);
  EXPECT_GT(sound.samples.size(), 22050u);
  // Of 220 Hz and its harmonics a sample is at most so far from the next one; a note that was
  // cut off would be further.
  EXPECT_LT(largest_step(sound.samples), 0.3f);
  EXPECT_LT(std::abs(sound.samples.back()), 1e-3f);
  // The pitch: the lag after which the sound is most like itself.
  const auto likeness = [&](std::size_t lag) {
    double sum = 0.0;
    for (std::size_t i = 4000; i < 8000; ++i)
      sum += static_cast<double>(sound.samples[i]) * sound.samples[i + lag];
    return sum;
  };
  std::size_t best = 40;
  for (std::size_t lag = 40; lag < 180; ++lag)
    if (likeness(lag) > likeness(best)) best = lag;
  EXPECT_NEAR(static_cast<double>(best), 22050.0 / 220.0, 1.0);
}

TEST(Synthesiser, SilenceStaysSilentAndEndlessMusicIsRefused) {
  const Sound silence = play({}, 8000);
  EXPECT_TRUE(std::all_of(silence.samples.begin(), silence.samples.end(),
                          [](float one) { return one == 0.0f; }));
  Music long_one;
  long_one.tempo = 10.0;
  long_one.notes = {{0, kMostTicks, 60}};
  EXPECT_THROW(play(long_one), InvalidArgument);
}

TEST(Wav, HasItsHeaderAndHoldsSamplesInside) {
  const auto bytes = write_wav({8000, {0.0f, 1.0f, -2.0f}});
  ASSERT_EQ(bytes.size(), 44u + 6u);
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 4), "RIFF");
  EXPECT_EQ(bytes[4], 36u + 6u);
  EXPECT_EQ(bytes[40], 6u);
  EXPECT_EQ((std::vector<std::uint8_t>(bytes.begin() + 44, bytes.end())),
            (std::vector<std::uint8_t>{0, 0, 0xFF, 0x7F, 0x01, 0x80}));
}

}  // namespace
}  // namespace attn::tasks::compose
