#include "attn/tasks/debian/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/neighbours.hpp"
#include "attn/tasks/text_data.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

/// Three words that no other text has.
std::string words_of(const std::string& own) {
  std::string words = "a" + own;
  for (const char* next : {" b", " c"}) (words += next) += own;
  return words;
}

/// 400 packages with 5 sentences each; the last sentence is the same in all of them, and the
/// one before it nearly.
std::vector<Candidate> made_candidates() {
  std::vector<Candidate> candidates;
  for (int p = 0; p < 400; ++p)
    for (int s = 0; s < 5; ++s) {
      const std::string own = "p" + std::to_string(p) + "s" + std::to_string(s);
      const std::string source =
          s == 4   ? "this package contains the files of development"
          : s == 3 ? "header files static library needed to compile programs against it " + own
                   : words_of(own);
      candidates.push_back({{own, source, {"target " + own}}, "package" + std::to_string(p)});
    }
  return candidates;
}

std::set<std::string> ids(const std::vector<Example>& part) {
  std::set<std::string> out;
  for (const Example& example : part) out.insert(example.id);
  return out;
}

TEST(Split, PartsShareNoPackageAndHeldOutTextsHaveNoNeighbourInTrain) {
  const auto candidates = made_candidates();
  const std::string list = make_split(candidates, "12.1", {});
  const Corpus corpus = apply_split(candidates, list, "12.1", "made");
  EXPECT_GE(corpus.test.size(), 60u);
  EXPECT_GE(corpus.development.size(), 30u);
  EXPECT_GT(corpus.train.size(), 600u);
  const auto package = [](const Example& example) {
    return example.id.substr(0, example.id.find('s'));
  };
  std::set<std::string> trained;
  std::vector<std::string> sources;
  for (const Example& example : corpus.train) {
    trained.insert(package(example));
    sources.push_back(example.source);
  }
  std::set<std::string> tested;
  const Neighbours neighbours(sources);
  for (const Example& example : corpus.test) {
    tested.insert(package(example));
    EXPECT_FALSE(trained.contains(package(example)));
    EXPECT_LE(neighbours.nearest(example.source).cosine, 0.7) << example.source;
  }
  for (const Example& example : corpus.development) {
    EXPECT_FALSE(trained.contains(package(example)));
    EXPECT_FALSE(tested.contains(package(example)));
  }
  EXPECT_EQ(corpus.notes.size(), 2u);
}

TEST(Split, TheSameCandidatesGiveTheSameList) {
  auto candidates = made_candidates();
  const std::string list = make_split(candidates, "12.1", {});
  EXPECT_EQ(make_split(candidates, "12.1", {}), list);
  EXPECT_TRUE(list.starts_with("# Debian 12.1\n"));
}

TEST(Split, EqualSourcesBecomeOneAndTheHeldOutOneWins) {
  const std::vector<Candidate> candidates{{{"1", "same", {"a"}}, "x"},
                                          {{"2", "same", {"b"}}, "y"},
                                          {{"3", "other", {"c"}}, "x"},
                                          {{"4", "other", {"d"}}, "z"},
                                          {{"5", "third", {"e"}}, "y"}};
  const Corpus corpus = apply_split(candidates, "# Debian 1\n2\ty\ttest\n", "1", "made");
  EXPECT_EQ(ids(corpus.test), std::set<std::string>{"2"});
  // 5 comes from a package of the list and is in no part.
  EXPECT_EQ(ids(corpus.train), std::set<std::string>{"3"});
}

TEST(Split, NotesTellOfANewerIndexAndOfWhatIsGone) {
  const Corpus corpus =
      apply_split({{{"1", "a", {"b"}}, "x"}},
                  "# Debian 12.1\n1\tx\ttest\n2\tx\ttest\n-\ty\tleft-out\n", "12.2", "made");
  ASSERT_EQ(corpus.notes.size(), 3u);
  EXPECT_NE(corpus.notes[0].find("1 of the 2"), std::string::npos) << corpus.notes[0];
  EXPECT_NE(corpus.notes[2].find("Debian 12.2"), std::string::npos) << corpus.notes[2];
}

TEST(Split, ADamagedListIsAnErrorThatNamesTheLine) {
  for (const char* line : {"1", "1\tx", "1\tx\ttests", "1\tx\t"}) {
    const std::string message = message_of<FileError>(
        [&] { apply_split({}, std::string("# Debian 1\n") + line, "1", "made"); });
    EXPECT_NE(message.find("line 2"), std::string::npos) << line << ": " << message;
  }
}

TEST(Split, TooFewCandidatesAreAnError) {
  EXPECT_THROW(make_split({}, "1", {}), InvalidArgument);
  EXPECT_THROW(make_split({{{"1", "a", {"b"}}, "x"}}, "1", {}), InvalidArgument);
}

TEST(Split, EveryListThatShipsCanBeReadAndHoldsSomething) {
  std::vector<std::string> names{"summarise"};
  for (const std::string& language : translate_languages())
    names.push_back("translate-" + language);
  for (const std::string& name : names) {
    const std::string list(shipped_split(name));
    EXPECT_NO_THROW(apply_split({}, list, "1", name));
    EXPECT_GT(std::count(list.begin(), list.end(), '\n'), 500) << name;
  }
  EXPECT_THROW(shipped_split("translate-tlh"), InvalidArgument);
  EXPECT_THROW(shipped_split(""), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
