// attn score equals the recorded scores of other programs and explains bad input.

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "files/support.hpp"
#include "support/tolerance.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

using Texts = std::vector<std::string>;
using nlohmann::json;

/// A file with a text a line; its path.
std::string lines(const files::TemporaryFolder& folder, const char* name, const Texts& texts) {
  std::ofstream file(folder / name);
  for (const std::string& text : texts) file << text << '\n';
  return (folder / name).string();
}

json cases(const char* name) {
  std::ifstream file(std::string(ATTN_TEST_DATA "/metrics/") + name);
  return json::parse(file);
}

TEST(Score, BleuAndChrfOfFilesEqualTheRecordedScores) {
  for (const json& at : cases("bleu_chrf.json")) {
    const files::TemporaryFolder folder;
    Texts files{lines(folder, "hypotheses", at.at("hyps").get<Texts>())};
    for (const auto& texts : at.at("refs").get<std::vector<Texts>>())
      files.push_back(
          lines(folder, ("reference" + std::to_string(files.size())).c_str(), texts));
    const auto ask = [&](Texts arguments) {
      arguments.insert(arguments.begin(), "score");
      arguments.insert(arguments.end(), files.begin(), files.end());
      const Said said = say(arguments);
      EXPECT_EQ(said.status, success) << said.err;
      return json::parse(said.out);
    };
    const json bleu = ask({"bleu", "--json", "--sentence"});
    EXPECT_NEAR(bleu.at("bleu").get<double>(), at.at("bleu").get<double>(), test::kFloat);
    EXPECT_EQ(bleu.at("sys_len"), at.at("sys_len"));
    const json& each = at.at("sentence_bleu");
    for (std::size_t i = 0; i < each.size(); ++i)
      EXPECT_NEAR(bleu.at("sentences").at(i).get<double>(), each[i].get<double>(),
                  test::kFloat);
    EXPECT_NEAR(ask({"bleu", "--json", "--lower"}).at("bleu").get<double>(),
                at.at("bleu_lowercase").get<double>(), test::kFloat);
    EXPECT_NEAR(ask({"chrf", "--json"}).at("chrf2").get<double>(), at.at("chrf2").get<double>(),
                test::kFloat);
  }
}

TEST(Score, RougeOfFilesEqualsTheRecordedScores) {
  const json at = cases("rouge.json");
  const files::TemporaryFolder folder;
  const Said said =
      say({"score", "rouge", "--json", lines(folder, "hypotheses", at.at("hyps").get<Texts>()),
           lines(folder, "references", at.at("refs").get<Texts>())});
  ASSERT_EQ(said.status, success) << said.err;
  const json got = json::parse(said.out);
  for (const auto& [key, value] : at.at("scores").items())
    EXPECT_NEAR(got.at(key).get<double>(), value.get<double>(), test::kFloatSum) << key;
}

TEST(Score, ErrorRatesUseEveryVariantAndSkipEmptyOnes) {
  const files::TemporaryFolder folder;
  const std::string answers = lines(folder, "answers", {"T AH M EY T OW", "K AE T S"});
  const std::string one = lines(folder, "one", {"T AH M AA T OW", "K AE T"});
  const std::string two = lines(folder, "two", {"T AH M EY T OW", ""});
  EXPECT_EQ(say({"score", "per", answers, one, two}).out,
            "PER 11.11 (1 edits in 9 units, 2 lines)\n");
  EXPECT_EQ(say({"score", "wer", answers, one, two}).out,
            "WER 50.00 (1 of 2 lines equal no reference)\n");
  EXPECT_EQ(say({"score", "wer", "--sentence", answers, one, two}).out, "0.00\n100.00\n");
}

TEST(Score, SaysTheScoreInOneLine) {
  const files::TemporaryFolder folder;
  const std::string text = lines(folder, "text", {"the cat sat on the mat"});
  EXPECT_EQ(say({"score", "bleu", text, text}).out.rfind("BLEU 100.00 (", 0), 0U);
  EXPECT_EQ(say({"score", "chrf", text, text}).out, "chrF2 100.00\n");
  EXPECT_EQ(say({"score", "rouge", "--sentence", text, text}).out, "100.00\t100.00\t100.00\n");
}

TEST(Score, LineCountsThatDisagreeAreToldWithBothCounts) {
  const files::TemporaryFolder folder;
  const Said said = say({"score", "bleu", lines(folder, "three", {"a", "b", "c"}),
                         lines(folder, "two", {"a", "b"})});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("2 lines"), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("have 3"), std::string::npos) << said.err;
}

TEST(Score, BadInputFailsAndWrongUseIsUsage) {
  const files::TemporaryFolder folder;
  const std::string good = lines(folder, "good", {"a"});
  EXPECT_EQ(say({"score", "bleu", good, (folder / "missing").string()}).status, failure);
  EXPECT_EQ(say({"score", "bleu", lines(folder, "empty", {}), good}).status, failure);
  const Said bad = say({"score", "bleu", lines(folder, "bad", {"\xff"}), good});
  EXPECT_EQ(bad.status, failure);
  EXPECT_NE(bad.err.find("line 1 is not UTF-8"), std::string::npos) << bad.err;
  EXPECT_EQ(say({"score", "blue", good, good}).status, usage);
  EXPECT_EQ(say({"score", "bleu", good}).status, usage);
  EXPECT_EQ(say({"score"}).status, usage);
}

}  // namespace
}  // namespace attn::tools
