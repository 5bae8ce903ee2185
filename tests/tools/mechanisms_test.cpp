// attn mechanisms: the list, one mechanism, the search, the page in docs/, gradient checks.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/read_file.hpp"
#include "attn/nn/registry.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/mechanism_search.hpp"
#include "tools/say.hpp"
#include "tools/serve/mechanism_use.hpp"

namespace attn::tools {
namespace {

TEST(Mechanisms, AreListedByFamilyAndAsJson) {
  const Said list = say({"mechanisms"});
  EXPECT_EQ(list.status, success);
  EXPECT_NE(list.out.find("score_additive"), std::string::npos);
  EXPECT_NE(list.out.find("64 mechanisms"), std::string::npos);
  const auto all = nlohmann::json::parse(say({"mechanisms", "--json"}).out);
  EXPECT_EQ(all.size(), 64u);
  for (const auto& one : all) EXPECT_FALSE(one.at("paper").get<std::string>().empty());
}

TEST(Mechanisms, ThePageIsWhatTheRegistrySays) {
  std::ifstream page(ATTN_TEST_DATA "/../../docs/mechanisms.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  EXPECT_EQ(text, say({"mechanisms", "--markdown"}).out)
      << "run: ./attn mechanisms --markdown >docs/mechanisms.md";
}

/// A use that is claimed stands in the file that is named, and most mechanisms have one.
TEST(Mechanisms, EachSaysWhatUsesItOrWhyNothingDoes) {
  constexpr std::size_t kMostUnused = 20;
  std::size_t unused = 0;
  ASSERT_EQ(serve::mechanism_uses().size(), nn::mechanisms().size());
  for (const nn::Mechanism* mechanism : nn::mechanisms()) {
    SCOPED_TRACE(mechanism->name);
    const serve::MechanismUse* use = serve::find_use(mechanism->name);
    ASSERT_NE(use, nullptr);
    if (use->by.empty()) {
      ++unused;
      EXPECT_FALSE(use->why.empty());
      continue;
    }
    const std::string source = files::read_text(
        std::filesystem::path(ATTN_TEST_DATA) / "../.." / use->file, std::uint64_t{1} << 20);
    EXPECT_NE(source.find(use->symbol), std::string::npos) << use->file;
  }
  EXPECT_LT(unused, kMostUnused);
}

TEST(Mechanisms, OneIsTaught) {
  const Said one = say({"mechanisms", "local_predictive"});
  for (const char* part :
       {"Formula", "Paper", "Made of", "In C++", "include/attn/nn/mechanisms/local/",
        "    #include <attn/attn.hpp>\n", "    int main() {\n", "Used by"})
    EXPECT_NE(one.out.find(part), std::string::npos) << part;
}

TEST(Mechanisms, AWrongNameSuggestsTheNearest) {
  const Said said = say({"mechanisms", "score_additiv"});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("score_additive"), std::string::npos) << said.err;
}

TEST(Mechanisms, AWordFindsWhatIsAboutIt) {
  const std::vector<std::pair<std::string, std::string>> finds{
      {"sliding", "spec::window("},
      {"linear", "attn/kernels/linear.hpp"},
      {"flash", "attend("},
      {"additive", "score_additive"},
      {"Luong", "luong_decoder"},
      {"relative positions", "relative_shaw"},
      {"gqa", "fewer heads in k and v"},
      {"sparsemax", "spec::sparsemax()"}};
  for (const auto& [word, answer] : finds) {
    const Said said = say({"mechanisms", word});
    EXPECT_EQ(said.status, success) << word;
    EXPECT_NE(said.out.find("No mechanism is called '" + word + "'."), std::string::npos);
    EXPECT_NE(said.out.find(answer), std::string::npos) << said.out;
  }
  EXPECT_EQ(say({"mechanisms", "sliding", "--json"}).status, failure) << "programs ask for one";
}

TEST(Mechanisms, AMistypedWordIsGuessed) {
  const Said said = say({"mechanisms", "softmaxx"});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("did you mean 'softmax'?"), std::string::npos) << said.err;
  EXPECT_NE(say({"gradcheck", "additive"}).err.find("related: "), std::string::npos);
  const Said far = say({"gradcheck", "qqqqqq"});
  EXPECT_EQ(far.status, failure);
  EXPECT_NE(far.err.find("'attn mechanisms' lists them"), std::string::npos) << far.err;
}

TEST(Mechanisms, EveryPartOfTheLibraryHasItsHeader) {
  for (const LibraryPart& part : library_parts()) {
    std::ifstream header(ATTN_TEST_DATA "/../../include/" + part.header);
    ASSERT_TRUE(header.good()) << part.header;
    const std::string text{std::istreambuf_iterator<char>(header), {}};
    // "spec::scaled_dot() | spec::soft_cap(cap)" ends with what the header declares.
    const std::string call = part.use.substr(0, part.use.rfind('('));
    const std::string name = call.substr(call.find_last_of(": |") + 1);
    if (part.use.starts_with("spec::")) {
      EXPECT_NE(text.find(" " + name + "("), std::string::npos) << part.use;
    }
  }
}

TEST(Gradcheck, SaysForEachInputWhetherItIsRight) {
  const Said said = say({"gradcheck", "score_additive"});
  EXPECT_EQ(said.status, success);
  EXPECT_NE(said.out.find("param.w_v.weight"), std::string::npos);
  EXPECT_NE(said.out.find("1 passed, 0 failed"), std::string::npos);
  EXPECT_EQ(say({"gradcheck"}).status, usage);
}

TEST(Gradcheck, SaysWhyThereIsNothingToCompare) {
  const Said said = say({"gradcheck", "bahdanau_greedy", "score_dot"});
  EXPECT_EQ(said.status, success);
  EXPECT_NE(said.out.find("nothing to compare: it is a search"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("1 passed, 0 failed, 1 with nothing to compare"), std::string::npos)
      << said.out;
}

}  // namespace
}  // namespace attn::tools
