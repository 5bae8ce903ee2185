// WAV files that a page sends, and what others send in their place.

#include "support/wav.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/value.hpp"
#include "support/tolerance.hpp"

namespace attn::tasks {
namespace {

Sound read(const std::string& file) {
  return read_wav({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "it");
}

std::string refusal(const std::string& file) {
  try {
    read(file);
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

TEST(Wav, GivesTheSamplesBack) {
  const std::vector<float> samples{0.0f, 0.5f, -0.5f, 1.0f, -1.0f};
  const Sound sound = read(test::wav(samples));
  EXPECT_EQ(sound.rate, kSpeechRate);
  ASSERT_EQ(sound.samples.size(), samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    EXPECT_NEAR(sound.samples[i], samples[i], 2.0 / 32768.0) << i;
}

TEST(Wav, PassesChunksThatItDoesNotKnow) {
  const std::string plain = test::wav({0.25f, -0.25f});
  const std::string noted = plain.substr(0, 12) + "LIST" + test::little_endian(3, 4) +
                            std::string("abc\0", 4) + plain.substr(12);
  EXPECT_EQ(read(noted), read(plain));
}

TEST(Wav, RefusesOtherSoundsByWhatTheyAre) {
  EXPECT_NE(refusal("no sound").find("is no WAV file"), std::string::npos);
  EXPECT_NE(refusal(test::wav({0.1f}, 44100)).find("44100 samples a second"),
            std::string::npos);
  EXPECT_NE(refusal(test::wav({0.1f, 0.1f}, 16000, 2)).find("2 channels"), std::string::npos);
  std::string compressed = test::wav({0.1f});
  compressed[20] = 2;
  EXPECT_NE(refusal(compressed).find("kind 2"), std::string::npos);
  EXPECT_NE(refusal("RIFF....WAVE").find("without a format"), std::string::npos);
}

TEST(Wav, IsReadAsFarAsItIsThere) {
  // A header that claims four gigabytes takes no memory for them.
  EXPECT_EQ(read(test::wav({0.5f, 0.5f}, 16000, 1, 4000000000)).samples.size(), 2u);
  EXPECT_TRUE(read(test::wav({})).samples.empty());
  // Nothing is read behind the end, wherever the file ends and whatever a size claims.
  const std::string whole = test::wav(test::tone(0.01));
  for (std::size_t size = 0; size < 60; ++size) {
    const std::vector<char> exact(whole.begin(),
                                  whole.begin() + static_cast<std::ptrdiff_t>(size));
    try {
      read({exact.begin(), exact.end()});
    } catch (const FileError&) {
      EXPECT_LT(size, 44u) << "a header is all that is needed";
    }
  }
  for (const std::size_t place : {4u, 16u, 40u}) {
    std::string wrong = whole;
    wrong.replace(place, 4, "\xFF\xFF\xFF\xFF");
    EXPECT_NO_FATAL_FAILURE(refusal(wrong));
  }
}

}  // namespace
}  // namespace attn::tasks
