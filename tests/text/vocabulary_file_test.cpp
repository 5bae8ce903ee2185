// Vocabulary files are read back as written, and damage names its line.

#include "text/vocabulary_file.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/read_file.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/tokeniser.hpp"
#include "files/support.hpp"

namespace attn::text {
namespace {

TEST(VocabularyFile, WhatIsWrittenIsReadBack) {
  const files::TemporaryFolder folder;
  const std::vector<Piece> pieces{{"▁a", -1.0f / 3.0f},
                                  {"a\tb\\n\n\r", std::numeric_limits<float>::denorm_min()},
                                  {"\\", -3e38f},
                                  {" ", 0.0f}};
  const Tokeniser written(Units::subwords, pieces);
  written.write(folder / "vocabulary");
  const Vocabulary read = read_vocabulary(folder / "vocabulary");
  ASSERT_EQ(read.pieces.size(), pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(read.pieces[i].text, pieces[i].text);
    EXPECT_EQ(read.pieces[i].score, pieces[i].score) << "to the last bit";
  }
  const std::string bytes = files::read_text(folder / "vocabulary", 1000);
  EXPECT_EQ(written.checksum(), sha256_hex(files::bytes_of(bytes)));
  EXPECT_EQ(Tokeniser::read(folder / "vocabulary").checksum(), written.checksum());
}

TEST(VocabularyFile, IsPlainText) {
  EXPECT_EQ(vocabulary_text({Units::subwords, {{"▁a", -2.5f}}}),
            "attn-vocabulary 1 subwords 1\n▁a\t-2.5\n");
  EXPECT_EQ(vocabulary_text({Units::characters, {{"\t"}}}),
            "attn-vocabulary 1 characters 1\n\\t\n");
}

TEST(VocabularyFile, DamageIsAFileErrorThatNamesTheLine) {
  struct Case {
    std::string text;
    std::string_view says;
  };
  const std::string head = "attn-vocabulary 1 subwords 2\na\t-1\n";
  const std::vector<Case> cases{
      {"", "line 1"},
      {"\n", "line 1"},
      {"attn-vocabulary 1 subwords 0", "line 1"},
      {"something else\n", "no vocabulary"},
      {"attn-vocabulary 2 words 0\n", "version"},
      {"attn-vocabulary 1 letters 0\n", "units"},
      {"attn-vocabulary 1 words -1\n", "count"},
      {"attn-vocabulary 1 words 99999999999999999999\n", "count"},
      {"attn-vocabulary 1 words 4000000\na\n", "line 1 says 4000000"},
      {head, "line 1 says 2"},
      {head + "b\t-1", "line 3"},
      {head + "b\t-1\nc\t-1\n", "line 1 says 2"},
      {head + "b\n", "line 3"},
      {head + "b\t\n", "line 3"},
      {head + "b\t-1\t-1\n", "line 3"},
      {head + "b\tnan\n", "line 3"},
      {head + "b\tinf\n", "line 3"},
      {head + "b\t1e99\n", "line 3"},
      {head + "b\t-1x\n", "line 3"},
      {head + "a\t-2\n", "line 3"},
      {head + "\t-2\n", "line 3"},
      {head + "\xff\t-2\n", "line 3"},
      {head + "\\q\t-2\n", "line 3"},
      {head + "b\\\t-2\n", "line 3"},
      {head + std::string(300, 'b') + "\t-2\n", "line 3"},
      {"attn-vocabulary 1 words 1\na b\n", "line 2"},
      {"attn-vocabulary 1 characters 1\nab\n", "line 2"},
  };
  const files::TemporaryFolder folder;
  for (const Case& at : cases) {
    files::atomic_write(folder / "vocabulary", at.text);
    try {
      (void)Tokeniser::read(folder / "vocabulary");
      ADD_FAILURE() << "accepted: " << at.text;
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find(at.says), std::string::npos)
          << error.what() << "\n"
          << at.text;
    }
  }
  EXPECT_THROW((void)Tokeniser::read(folder / "missing"), FileError);
}

TEST(VocabularyFile, CutAnywhereItIsRefused) {
  const files::TemporaryFolder folder;
  const std::string text =
      vocabulary_text({Units::subwords, {{"▁a", -2.5f}, {"é", -3.25f}, {"\t", -4.0f}}});
  for (std::size_t size = 0; size < text.size(); ++size) {
    files::atomic_write(folder / "vocabulary", text.substr(0, size));
    EXPECT_THROW((void)Tokeniser::read(folder / "vocabulary"), FileError) << size;
  }
}

}  // namespace
}  // namespace attn::text
