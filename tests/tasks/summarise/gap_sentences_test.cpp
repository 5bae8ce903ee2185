// Texts without a sentence, to pretrain on.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/text_data.hpp"

namespace attn::tasks {
namespace {

TEST(GapSentences, EachSentenceThatIsLongEnoughIsAskedForOnce) {
  const std::vector<Example> texts{
      {"a",
       "This editor changes large text files quickly. It is free. Rules for many languages are "
       "included in it.",
       {"editor of texts"}},
      {"b", "Two sentences are not enough here. This is the second one of them.", {"short"}}};
  const std::vector<Example> pairs = gap_sentences(texts);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].source, "It is free. Rules for many languages are included in it.");
  EXPECT_EQ(pairs[0].targets,
            std::vector<std::string>{"This editor changes large text files quickly."});
  EXPECT_EQ(pairs[1].source, "This editor changes large text files quickly. It is free.");
  EXPECT_EQ(pairs[1].targets,
            std::vector<std::string>{"Rules for many languages are included in it."});
}

}  // namespace
}  // namespace attn::tasks
