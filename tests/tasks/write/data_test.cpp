// What write learns from: documents come back from their passages, parts share nothing, and
// what is no text is refused with its line.

#include "tasks/write/data.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/task.hpp"
#include "tasks/scratch.hpp"
#include "tasks/write/passages.hpp"

namespace attn::tasks {
namespace {

std::string lines(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += "Riga " + std::to_string(i) + ": perché no?\n";
  return text;
}

class OwnTextTest : public testing::Test {
 protected:
  std::string file(const std::string& content) {
    const auto path = scratch_.path() / "text.txt";
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  std::string problem(const std::string& content) {
    try {
      own_text(file(content), {});
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  }

  Scratch scratch_;
};

TEST(Passages, AreTheDocumentAgain) {
  const Document document{"d", lines(300), true};
  for (const std::size_t most : {1, 7, 100, 2048, 100000}) {
    const std::vector<Example> parts = cut(document, most);
    EXPECT_EQ(joined(parts), document.text) << most;
    EXPECT_TRUE(passage_of(parts.front().input()).begins);
    EXPECT_TRUE(passage_of(parts.back().input()).ends);
    std::set<std::string> ids;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Input input = parts[i].input();
      EXPECT_EQ(passage_of(input).begins, i == 0);
      EXPECT_EQ(passage_of(input).ends, i + 1 == parts.size());
      EXPECT_LE(passage_of(input).text.size(), most + 64);
      EXPECT_NE(static_cast<unsigned char>(passage_of(input).text[0]) & 0xC0U, 0x80U);
      EXPECT_TRUE(ids.insert(parts[i].id).second);
    }
  }
  EXPECT_EQ(characters("perché 汉字\n"), 10u);
}

TEST(Parts, AreWholeDocumentsInTurn) {
  std::vector<Document> documents;
  for (std::size_t i = 0; i < 40; ++i)
    documents.push_back({std::to_string(i), "text " + std::to_string(i) + "\n"});
  const Corpus corpus = in_parts("name", documents);
  EXPECT_EQ(joined(corpus.test), "text 4\ntext 14\ntext 24\ntext 34\n");
  EXPECT_EQ(joined(corpus.development), "text 9\ntext 29\n");
  EXPECT_EQ(corpus.train.size(), 34u);
}

TEST(Speeches, AreByTheirPresident) {
  EXPECT_EQ(president_of("1861_abraham_lincoln_r.json"), "abraham_lincoln");
  EXPECT_THROW(president_of("1861.json"), FileError);
}

TEST(Dante, HasCantos) {
  const std::vector<Document> all =
      cantos("CANTO PRIMO\n\nNel mezzo\n\n\nCANTO SECONDO\n\ndi quel CANTO\n");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].text, "CANTO PRIMO\n\nNel mezzo\n");
  EXPECT_EQ(all[1].text, "CANTO SECONDO\n\ndi quel CANTO\n");
  if (!has_prepared(dante_file())) GTEST_SKIP() << "divina-commedia.txt.xz is not in the cache";
  const Corpus corpus = written_corpus("dante", {});
  EXPECT_EQ(corpus.test.size(), 10u);
}

TEST_F(OwnTextTest, FallsIntoPartsByBlocks) {
  const std::string text = lines(4000);
  const Corpus corpus = own_text(file(text), {});
  const std::size_t test = joined(corpus.test).size();
  const std::size_t development = joined(corpus.development).size();
  EXPECT_EQ(joined(corpus.train).size() + test + development, text.size());
  EXPECT_NEAR(static_cast<double>(test) / static_cast<double>(text.size()), 0.1, 0.03);
  EXPECT_NEAR(static_cast<double>(development) / static_cast<double>(text.size()), 0.05, 0.03);
  EXPECT_EQ(corpus.checksum.size(), 64u);
  // One long line, too.
  const Corpus line = own_text(file(std::string(30000, 'x')), {});
  EXPECT_FALSE(line.test.empty());
  EXPECT_FALSE(line.development.empty());
}

TEST_F(OwnTextTest, IsRefusedWithItsLine) {
  EXPECT_NE(problem(lines(200) + "a\xFF\n").find("line 201 is not UTF-8"), std::string::npos);
  EXPECT_NE(problem(lines(200) + std::string("a\0\n", 3)).find("line 201 has a NUL"),
            std::string::npos);
  EXPECT_NE(problem("short\n").find("has 6 characters"), std::string::npos);
  EXPECT_NE(problem("").find("has 0 characters"), std::string::npos);
  EXPECT_NE(problem(std::string(5000, '\n')).find("white space"), std::string::npos);
  EXPECT_THROW(own_text((scratch_.path() / "none").string(), {}), FileError);
  EXPECT_THROW(written_corpus("stories", {}), FileError);
}

}  // namespace
}  // namespace attn::tasks
