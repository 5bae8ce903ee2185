// The encoder of subwords against the library that defines it.
// SPDX-License-Identifier: Apache-2.0

#include "text/unigram.hpp"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "support/random.hpp"
#include "text/scripts.hpp"

namespace attn::text {
namespace {

class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t at_ = 0;
};

void train(const std::vector<std::string>& lines, const std::string& byte_fallback,
           sentencepiece::SentencePieceProcessor& library) {
  Sentences sentences(lines);
  std::string model;
  const std::unordered_map<std::string, std::string> how{
      {"model_type", "unigram"},
      {"vocab_size", "4000"},
      {"hard_vocab_limit", "false"},
      {"byte_fallback", byte_fallback},
      {"normalization_rule_name", "identity"},
      {"character_coverage", "0.98"},
      {"num_threads", "2"},
      {"minloglevel", "2"},
      {"pad_id", "0"},
      {"bos_id", "1"},
      {"eos_id", "2"},
      {"unk_id", "3"}};
  const auto trained = sentencepiece::SentencePieceTrainer::Train(how, &sentences, &model);
  ASSERT_TRUE(trained.ok()) << trained.ToString();
  const auto loaded = library.LoadFromSerializedProto(model);
  ASSERT_TRUE(loaded.ok()) << loaded.ToString();
}

Tokeniser same_pieces(const sentencepiece::SentencePieceProcessor& library) {
  std::vector<Piece> pieces;
  for (int id = 4; id < library.GetPieceSize(); ++id)
    pieces.push_back({library.IdToPiece(id), library.GetScore(id)});
  return {Units::subwords, std::move(pieces)};
}

class AgainstTheLibrary : public testing::TestWithParam<const char*> {};

TEST_P(AgainstTheLibrary, IdsAreEqualOnAHundredThousandLinesInManyScripts) {
  test::Random random("many scripts");
  const std::vector<std::string> words = lexicon(random, 900);
  std::vector<std::string> lines;
  while (lines.size() < 3000)
    if (std::string line = normalise(random_line(random, words, 0.02)); !line.empty())
      lines.push_back(std::move(line));
  sentencepiece::SentencePieceProcessor library;
  ASSERT_NO_FATAL_FAILURE(train(lines, GetParam(), library));
  const Tokeniser ours = same_pieces(library);

  constexpr int kLines = 100000;
  std::size_t unknown = 0;
  std::size_t longest = 0;
  std::vector<int> want;
  for (int i = 0; i < kLines; ++i) {
    const std::string line = random_line(random, words, i % 2 == 0 ? 0.0 : 0.4);
    ASSERT_TRUE(library.Encode(normalise(line), &want).ok());
    const std::vector<std::int64_t> got = ours.encode(line);
    ASSERT_EQ(got, std::vector<std::int64_t>(want.begin(), want.end()))
        << "line " << i << ": " << line;
    for (const std::int64_t id : got) unknown += id == Mark::unknown ? 1 : 0;
    longest = std::max(longest, got.size());
  }
  // The lines must have asked for something.
  EXPECT_GT(longest, 30U);
  if (std::string(GetParam()) == "true")
    EXPECT_EQ(unknown, 0U);
  else
    EXPECT_GT(unknown, 1000U);
}

INSTANTIATE_TEST_SUITE_P(ByteFallback, AgainstTheLibrary, testing::Values("false", "true"),
                         [](const auto& which) {
                           return std::string(which.param) == "true" ? "Bytes" : "Unknown";
                         });

}  // namespace
}  // namespace attn::text
