// Shell completion offers the values of flags, the models and the arguments.

#include <gtest/gtest.h>

#include <string>

#include "tools/say.hpp"

namespace attn::tools {
namespace {

std::string line_with(const std::string& text, const std::string& part) {
  const auto at = text.find(part);
  if (at == std::string::npos) return "";
  const auto begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

TEST(Completion, OffersTheValuesOfFlagsAndNothingOfTheirChecks) {
  const std::string bash = say({"completion", "bash"}).out;
  EXPECT_NE(line_with(bash, " translate:--device)").find("-W 'cpu gpu' "), std::string::npos)
      << line_with(bash, " translate:--device)");
  // Named by its check alone.
  EXPECT_NE(line_with(bash, " gallery:--format)").find("-W 'svg pdf png' "), std::string::npos)
      << line_with(bash, " gallery:--format)");
  EXPECT_EQ(bash.find('{' + std::string("cpu")), std::string::npos);
  EXPECT_EQ(bash.find("train:--minutes)"), std::string::npos) << "any number";
}

TEST(Completion, OffersModelsThatShipAndFolders) {
  const std::string bash = say({"completion", "bash"}).out;
  const std::string line = line_with(bash, " translate:--model)");
  EXPECT_NE(line.find("compgen -d -W 'answer-shapes caption-hard "), std::string::npos) << line;
  EXPECT_NE(line.find(" translate "), std::string::npos) << line;
  EXPECT_EQ(line_with(bash, " embed:--model)"), "") << "no name of ours";
  EXPECT_EQ(line_with(bash, " train:--model)").find("caption-hard"), std::string::npos);
  EXPECT_NE(say({"completion", "zsh"})
                .out.find("_alternative \"names:name:(answer-shapes caption-hard "),
            std::string::npos);
  EXPECT_NE(say({"completion", "fish"}).out.find("-l model -r -a 'answer-shapes caption-hard "),
            std::string::npos);
}

TEST(Completion, OffersWhatAnArgumentMayBe) {
  const std::string bash = say({"completion", "bash"}).out;
  EXPECT_NE(line_with(bash, " completion:2)").find("-W 'bash zsh fish' "), std::string::npos);
  EXPECT_NE(line_with(bash, " score:2)").find("-W 'bleu chrf rouge per wer' "),
            std::string::npos);
  EXPECT_NE(line_with(bash, " train:2)").find("pronounce"), std::string::npos);
  EXPECT_NE(line_with(bash, " mechanisms:2)").find(" score_additive "), std::string::npos);
  EXPECT_NE(line_with(bash, " gradcheck:2)").find(" rotary "), std::string::npos);
  EXPECT_NE(line_with(bash, " help:2)").find(" translate "), std::string::npos);
  EXPECT_EQ(bash.find(" translate:2)"), std::string::npos) << "any text";
  EXPECT_NE(say({"completion", "zsh"}).out.find("'1:what:(bash zsh fish)'"), std::string::npos);
  EXPECT_NE(say({"completion", "fish"}).out.find("-a 'bash zsh fish'"), std::string::npos);
}

}  // namespace
}  // namespace attn::tools
