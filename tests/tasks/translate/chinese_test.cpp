// Words and places of the dictionary, and the sentences made with them.

#include "tasks/translate/chinese.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks {
namespace {

constexpr const char* kDictionary = R"json([
  {"simplified": "西安", "english": ["Xi'an, sub-provincial city and capital of Shaanxi"]},
  {"simplified": "介绍", "english": ["to introduce (sb to sb)", "introduction"]
},
  {"simplified": "王", "english": ["surname Wang", "king or monarch"]},
  {"simplified": "东京", "english": ["Tokyo, capital of Japan"]},
  {"simplified": "东京", "english": ["a second time"]},
  {"simplified": "3C", "english": ["computers"]},
  {"simplified": "好", "english": ["(of two people) close; on intimate terms with each other"]},
  {"simplified": "长", "english": ["a meaning of far too many words"]}])json";

TEST(Headwords, HaveAShortMeaningEach) {
  EXPECT_EQ(headwords_of(kDictionary, "made"),
            (std::vector<Headword>{{"西安", "Xi'an", true},
                                   {"介绍", "introduce", false},
                                   {"王", "king or monarch", false},
                                   {"东京", "Tokyo", true},
                                   {"好", "close", false}}));
}

TEST(Headwords, OfADamagedFileAreAnError) {
  for (const char* text : {"", "{}", "[1]", R"([{"simplified": "好"}])",
                           R"([{"simplified": "好", "english": "close"}])",
                           R"([{"simplified": "好", "english": [1]}])"})
    EXPECT_THROW(headwords_of(text, "made"), FileError) << text;
}

bool teaches(const Corpus& corpus, const std::string& source, const std::string& target) {
  return std::any_of(corpus.train.begin(), corpus.train.end(), [&](const Example& example) {
    return example.source == source && example.targets.front() == target;
  });
}

TEST(Headwords, AreTaughtAloneAndInSentences) {
  Corpus corpus;
  corpus.train = {{"1", "他去过东京。", {"He has been to Tokyo."}},
                  {"2", "我在西安介绍你。", {"I introduce you in Xi'an."}}};
  corpus.test = {{"3", "我住在东京。", {"I live in Tokyo."}}};
  add_headwords(headwords_of(kDictionary, "made"), corpus);
  EXPECT_TRUE(teaches(corpus, "西安", "Xi'an"));
  EXPECT_TRUE(teaches(corpus, "介绍", "introduce"));
  EXPECT_FALSE(teaches(corpus, "王", "king or monarch")) << "no sentence has its character";
  EXPECT_TRUE(teaches(corpus, "他去过东京", "He has been to Tokyo.")) << "without its stop";
  EXPECT_TRUE(teaches(corpus, "介绍一下东京", "Introduce Tokyo."));
  EXPECT_FALSE(teaches(corpus, "介绍一下西安", "Introduce Xi'an.")) << "it is an example";
  for (const Example& example : corpus.train)
    EXPECT_EQ(example.source.find("我住在东京"), std::string::npos) << "it is held out";
}

}  // namespace
}  // namespace attn::tasks
