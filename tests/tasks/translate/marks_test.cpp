// A model of several languages reads which one is wanted before the text.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/scratch.hpp"
#include "tasks/support/toy.hpp"

namespace attn::tasks {
namespace {

/// Untrained: what it reads matters here, not what it says.
PairModel three_languages() {
  const std::vector<std::string> letters{"abcdefrs<>. "};
  PairModel model = toy::model();
  model.task = "translate";
  model.language = "fr+de+es";
  model.limits = {.source = 24, .target = 4};
  model.source = text::Tokeniser::learn(text::Units::characters, letters, 100);
  model.options.source_vocabulary = model.source.size();
  model.options.max_source = model.limits.source + 1;
  nn::seed(3);
  model.model = models::make_model(model.options);
  model.model->eval();
  return model;
}

Input wanting(const std::string& text, const std::string& to) {
  Input input(text);
  if (!to.empty()) input.parts["to"] = to;
  return input;
}

TEST(Marks, StandBeforeEachSentence) {
  const Answerer answerer(three_languages());
  // Characters alone: white space is none of the vocabulary.
  const auto read = [&](const Input& input) {
    std::vector<std::string> texts;
    for (const Piece& piece : answerer(input).pieces)
      texts.push_back(answerer.model().pairs()->source.decode(piece.answers.front().source));
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(read(wanting("abc", "de")), Texts{">>de<<abc"});
  EXPECT_EQ(read(wanting("abc", "")), Texts{">>fr<<abc"}) << "the first is taken";
  EXPECT_EQ(read(wanting(">>es<< abc", "")), Texts{">>es<<abc"});
  EXPECT_EQ(read(wanting("aa. >a. >b", "es")), (Texts{">>es<<aa.", ">>es<<>a.", ">>es<<>b"}));
}

TEST(Marks, OfAnotherLanguageAreRefused) {
  const Answerer answerer(three_languages());
  EXPECT_EQ(answerer.model().languages().to.size(), 3u);
  EXPECT_NE(answerer.refusal(wanting("abc", "it")).find("\"it\""), std::string::npos);
  EXPECT_NE(answerer.refusal(wanting(">>de<< ", "")).find("empty"), std::string::npos);
  EXPECT_THROW(answerer(wanting("abc", "it")), InvalidArgument);
}

TEST(Marks, AFolderKeepsTheLanguages) {
  const Scratch scratch;
  save_model(scratch.path(), three_languages());
  EXPECT_EQ(load_model(scratch.path()).language, "fr+de+es");
  PairModel plain = toy::model();
  save_model(scratch.path() / "plain", plain);
  EXPECT_EQ(load_model(scratch.path() / "plain").language, "");
}

}  // namespace
}  // namespace attn::tasks
