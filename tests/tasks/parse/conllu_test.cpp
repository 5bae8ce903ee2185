// CoNLL-U is read and written, and bad lines are named.

#include "tasks/parse/conllu.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {
namespace {

const std::string kTree =
    "# text = I don't.\n"
    "1\tI\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n"
    "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "2\tdo\t_\tAUX\t_\t_\t0\troot\t_\t_\n"
    "3\tn't\t_\tPART\t_\t_\t2\tadvmod\t_\t_\n"
    "4\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_\n";

std::vector<Sentence> read(const std::string& text, Columns columns = Columns::trees) {
  return read_conllu(text, columns, "trees.conllu", 100);
}

std::string complaint(const std::string& text, Columns columns = Columns::trees) {
  try {
    (void)read(text, columns);
  } catch (const FileError& error) {
    return error.what();
  }
  return "(accepted)";
}

std::string changed(const std::string& part, const std::string& by) {
  std::string text = kTree;
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

TEST(Conllu, IsReadAndWrittenBack) {
  const std::vector<Sentence> trees = read(kTree + "\n\n" + kTree);
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(trees[0], trees[1]);
  EXPECT_EQ(text_of(trees[0]), "I don't.");
  EXPECT_EQ(trees[0].words[3].relation, "punct");
  EXPECT_EQ(to_conllu(trees), kTree + "\n" + kTree);
  EXPECT_TRUE(is_conllu(kTree));
  EXPECT_FALSE(is_conllu("1 cat\tsat"));
  EXPECT_FALSE(is_conllu(""));
}

TEST(Conllu, SkipsEmptyNodesAndReadsOtherLineEnds) {
  const auto trees = read(changed("3\tn't", "2.1\tgo\t_\tVERB\t_\t_\t_\t_\t_\t_\r\n3\tn't"));
  EXPECT_EQ(trees.front().words.size(), 4u);
}

TEST(Conllu, NamesBadLines) {
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
  };
  says(complaint(changed("3\tn't\t_", "3\tn't")), "trees.conllu: line 5 has 9 columns");
  says(complaint(changed("\n3\tn't", "\n5\tn't")), "line 5 begins with \"5\"");
  says(complaint(changed("\t2\tnsubj", "\tx\tnsubj")), "line 2 has the head \"x\"");
  says(complaint(changed("\t2\tnsubj", "\t9\tnsubj")), "no tree");
  says(complaint(changed("\t2\tnsubj", "\t0\tnsubj")), "no tree");
  says(complaint(changed("\tnsubj", "\t_")), "no relation");
  says(complaint(changed("\tPRON", "\t_")), "no tag");
  says(complaint(changed("\tI\t", "\t\xff\t")), "UTF-8");
  says(complaint(changed("\n4\t.", "\n4-9\tx\t_\t_\t_\t_\t_\t_\t_\t_\n4\t.")), "in the middle");
  EXPECT_EQ(complaint(changed("\t2\tnsubj", "\t_\t_"), Columns::words), "(accepted)");
}

}  // namespace
}  // namespace attn::tasks::parse
