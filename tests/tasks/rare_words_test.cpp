// Which examples need a rare word of their text.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/corpus_report.hpp"

namespace attn {
namespace {

using tasks::Example;

const std::vector<Example> kTrain{{"1", "a tool", {"simple tool for images"}},
                                  {"2", "a tool", {"simple tool for Frobnicate"}}};

TEST(RareWords, AWordOfTheTextThatTrainingHardlyHas) {
  const std::vector<Example> examples{
      {"copied", "the Gimpola editor", {"gimpola tool"}},
      {"not in the text", "an editor", {"gimpola tool"}},
      {"common", "a simple tool", {"simple tool"}},
      {"once in training", "frobnicate things", {"frobnicate"}},
      {"too short", "uses xy", {"xy"}},
  };
  const auto ids = [&](std::int64_t most) {
    std::vector<std::string> list;
    for (const Example& one : tasks::needing_rare_words(examples, kTrain, most))
      list.push_back(one.id);
    return list;
  };
  EXPECT_EQ(ids(0), (std::vector<std::string>{"copied"}));
  EXPECT_EQ(ids(1), (std::vector<std::string>{"copied", "once in training"}));
  EXPECT_EQ(ids(2), (std::vector<std::string>{"copied", "common", "once in training"}));
  EXPECT_THROW(ids(-1), InvalidArgument);
}

}  // namespace
}  // namespace attn
