// One answer, whichever door the text comes through.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/tasks/answerer.hpp"
#include "support/tolerance.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/offline.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/service.hpp"

namespace attn::tools {
namespace {

/// Two sentences, which the model reads one by one.
const std::string kText =
    "A fast web server. It needs little memory and it is easy to configure.";

class Doors : public testing::Test {
 protected:
  Doors() { setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1); }
  ~Doors() override { unsetenv("ATTN_MODELS"); }

  static const tasks::Answerer& translator() {
    static const tasks::Answerer kTranslator(ATTN_SHIPPED_MODELS "/translate");
    return kTranslator;
  }

  static const serve::Service& service() {
    static const serve::Service kService = [] {
      serve::Models models;
      models.add("translate", "shipped", ATTN_SHIPPED_MODELS "/translate");
      models.add("pronounce", "shipped", ATTN_SHIPPED_MODELS "/pronounce");
      return serve::Service({}, std::move(models));
    }();
    return kService;
  }

  static serve::Response post(const nlohmann::json& question) {
    serve::Request request;
    request.method = "POST";
    request.path = "/api/answer";
    request.body = question.dump();
    const serve::Plan plan = service().plan(request);
    return plan.later ? serve::Service::run(plan.later) : plan.now;
  }

  static nlohmann::json answered(const nlohmann::json& question) {
    const serve::Response response = post(question);
    EXPECT_EQ(response.status, 200) << response.text;
    return nlohmann::json::parse(response.text);
  }

  static std::string said_to_lines(const std::string& lines) {
    std::istringstream text(lines);
    std::streambuf* const before = std::cin.rdbuf(text.rdbuf());
    const Said said = say({"translate", "-"});
    std::cin.rdbuf(before);
    EXPECT_EQ(said.status, success) << said.err;
    return said.out;
  }
};

TEST_F(Doors, AllGiveTheSameAnswer) {
  const tasks::Reply reply = translator()(kText);
  const std::string want = reply.answers.front().text;
  ASSERT_EQ(reply.pieces.size(), 2u);
  EXPECT_NE(want.find("server web"), std::string::npos) << want;
  EXPECT_EQ(say({"translate", kText}).out, want + "\n");
  // Whatever stands beside it, and however many answers are asked for.
  EXPECT_EQ(
      said_to_lines("a text editor\n" + kText + "\n\n" + kText + "\n"),
      translator()("a text editor").answers.front().text + "\n" + want + "\n\n" + want + "\n");
  for (const int best : {1, 4}) {
    const auto json = answered({{"task", "translate"}, {"text", kText}, {"best", best}});
    EXPECT_EQ(json.at("answers").size(), static_cast<std::size_t>(best));
    EXPECT_EQ(json.at("answers").at(0).at("text"), want) << best;
  }
  EXPECT_EQ(
      serve::offline_data(translator(), "shipped", kText, reply).at("answers").at(0).at("text"),
      want);
}

TEST_F(Doors, PiecesAreJoinedAlongTheDiagonal) {
  const auto json = answered({{"task", "translate"}, {"text", kText}, {"heads", true}});
  const auto& whole = json.at("answers").at(0);
  ASSERT_EQ(json.at("pieces").size(), 2u);
  std::size_t rows = 0;
  std::size_t columns = 0;
  double score = 0.0;
  nlohmann::json read = nlohmann::json::array();
  for (const auto& piece : json["pieces"]) {
    const auto& one = piece.at("answers").at(0);
    EXPECT_FALSE(piece.at("source").get<std::string>().empty());
    EXPECT_FALSE(one.at("heads").empty());
    score += one.at("score").get<double>();
    for (const auto& token : one.at("source_tokens")) read.push_back(token);
    for (const auto& row : one.at("weights")) {
      const auto& line = whole.at("weights").at(rows++);
      for (std::size_t i = 0; i < line.size(); ++i)
        EXPECT_EQ(line[i], i < columns || i >= columns + row.size() ? nlohmann::json(0.0)
                                                                    : row[i - columns]);
    }
    columns += one.at("source_tokens").size();
  }
  EXPECT_EQ(whole.at("source_tokens"), read);
  EXPECT_EQ(whole.at("weights").size(), rows);
  EXPECT_EQ(whole.at("target_tokens").size(), rows);
  EXPECT_DOUBLE_EQ(whole.at("score").get<double>(), score);
  EXPECT_FALSE(whole.contains("heads"));
  EXPECT_FALSE(json.at("cut").get<bool>());
}

TEST_F(Doors, PositionsCountOverTheWholeText) {
  const auto plain = answered({{"task", "translate"}, {"text", kText}});
  const std::size_t first = plain["pieces"][0]["answers"][0]["source_tokens"].size();
  const auto json = answered({{"task", "translate"},
                              {"text", kText},
                              {"forbid", {first + 1}},
                              {"force", {{{"step", 0}, {"position", first + 3}}}}});
  EXPECT_EQ(json["pieces"][0]["answers"][0]["text"], plain["pieces"][0]["answers"][0]["text"]);
  const auto& weights = json["pieces"][1]["answers"][0]["weights"];
  for (const auto& row : weights) EXPECT_EQ(row.at(1), 0.0);
  EXPECT_NEAR(weights.at(0).at(3).get<double>(), 1.0, test::kFloatSum);
  const std::size_t all = plain["answers"][0]["source_tokens"].size();
  EXPECT_EQ(post({{"task", "translate"}, {"text", kText}, {"forbid", {all}}}).status, 400);
  EXPECT_THROW(translator()(kText, {.steering = {.forbid = {static_cast<std::int64_t>(all)}}}),
               InvalidArgument);
}

TEST_F(Doors, AllRefuseAlike) {
  const tasks::Answerer speaker(ATTN_SHIPPED_MODELS "/pronounce");
  for (const std::string& text :
       {std::string(49, 'a'), std::string("a\0b", 3), std::string("  ")}) {
    const std::string why = speaker.refusal(text);
    ASSERT_FALSE(why.empty());
    EXPECT_THROW(speaker(text), InvalidArgument);
    const Said said = say({"pronounce", text});
    EXPECT_EQ(said.status, failure);
    EXPECT_NE(said.err.find(why), std::string::npos) << said.err;
    const serve::Response response = post({{"task", "pronounce"}, {"text", text}});
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(nlohmann::json::parse(response.text).at("error").get<std::string>().find(why),
              std::string::npos)
        << response.text;
  }
}

}  // namespace
}  // namespace attn::tools
