// attn chat as a newcomer meets it: turns in words, a dialogue line by line, lines of
// dialogues, JSON, a map, a request of the server; and a dialogue with the model that ships.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/json.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"
#include "tools/serve/assets.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/service.hpp"

namespace attn::tools {
namespace {

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

Said say_to(const std::string& lines, const std::vector<std::string>& arguments) {
  std::istringstream text(lines);
  std::streambuf* const before = std::cin.rdbuf(text.rdbuf());
  Said said = say(arguments);
  std::cin.rdbuf(before);
  return said;
}

class ChatCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<tasks::Scratch>();
    model_ = (scratch_->path() / "model").string();
    std::string text;
    for (int i = 0; i < 60; ++i)
      text += "U: hello there\nS: what is it ?\nU: number " + std::to_string(i) +
              "\tnumber=" + std::to_string(i) + "\nS: fine .\n\n";
    const std::string data = scratch_->write("dialogues.txt", text).string();
    const Said said = say({"train", "chat", "--data", data, "--out", model_, "--steps", "30",
                           "--dim", "8", "--hidden", "8", "--attention", "hierarchical"});
    ASSERT_EQ(said.status, success) << said.err;
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static Said chat(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"chat", "--model", model_});
    return say(arguments);
  }

  static std::unique_ptr<tasks::Scratch> scratch_;
  static std::string model_;
};

std::unique_ptr<tasks::Scratch> ChatCommand::scratch_;
std::string ChatCommand::model_;

TEST_F(ChatCommand, TakesTheTurnsOfOneDialogue) {
  const Said one = chat({"hello there"});
  ASSERT_EQ(one.status, success) << one.err;
  EXPECT_GE(lines_in(one.out), 1u);
  EXPECT_EQ(chat({"hello there", "what is it?", "number 7"}).status, success);
  const Said even = chat({"hello there", "what is it?"});
  EXPECT_EQ(even.status, failure);
  EXPECT_NE(even.err.find("must be the user's"), std::string::npos) << even.err;
  const Said empty = chat({"hello there", " ", "number 7"});
  EXPECT_EQ(empty.status, failure);
  EXPECT_NE(empty.err.find("turn 2 is empty"), std::string::npos) << empty.err;
  EXPECT_NE(chat({"a\xff"}).err.find("is not UTF-8"), std::string::npos);
  EXPECT_EQ(chat({"hello", "-"}).status, usage);
  // Its attention has no heads and is not steered, so there are no such flags.
  EXPECT_EQ(chat({"hello", "--forbid", "0"}).status, usage);
  EXPECT_EQ(chat({"hello", "--show", "--heads", "all"}).status, usage);
}

TEST_F(ChatCommand, TellsOfATurnOfUnknownWords) {
  const Said strange = chat({"hello there", "what is it?", "zqxv wubble frotz."});
  ASSERT_EQ(strange.status, success) << strange.err;
  EXPECT_NE(
      strange.err.find("3 of the 3 words of the last turn are unknown to the model (zqxv, "
                       "wubble, frotz): the reply is a guess"),
      std::string::npos)
      << strange.err;
  EXPECT_EQ(chat({"zqxv wubble frotz", "what is it?", "number 7"}).err, "");
}

TEST_F(ChatCommand, TellsJsonAndDraws) {
  const Said said = chat({"--json", "hello there", "what is it?", "number 7"});
  ASSERT_EQ(said.status, success) << said.err;
  const auto line = nlohmann::json::parse(said.out);
  EXPECT_TRUE(line.at("text").is_string());
  EXPECT_EQ(line.at("input").at("text"), "hello there\nwhat is it?\nnumber 7");
  const std::string map = (scratch_->path() / "map.json").string();
  ASSERT_EQ(chat({"hello there", "what is it?", "number 7", "--map", map}).status, success);
  EXPECT_EQ(files::read_json(map).at("columns").at(0), "U1");
  EXPECT_EQ(chat({"hello there", "--show"}).status, success);
}

TEST_F(ChatCommand, AnswersADialogueALine) {
  const Said said = say_to("hello there\nhello there\twhat is it?\tnumber 7\n\na\tb\n",
                           {"chat", "--model", model_, "-"});
  EXPECT_EQ(said.status, failure);
  EXPECT_EQ(lines_in(said.out), 4u) << said.out;
  EXPECT_NE(said.err.find("line 4 of standard input has 2 turns"), std::string::npos)
      << said.err;
}

TEST_F(ChatCommand, HoldsADialogueLineByLine) {
  const Said said =
      say_to("hello there\nnumber 7\n:new\nhello there\n", {"chat", "--model", model_});
  ASSERT_EQ(said.status, success) << said.err;
  ASSERT_EQ(lines_in(said.out), 3u) << said.out;
  const std::string first = said.out.substr(0, said.out.find('\n'));
  // Begun anew it says what it said at first.
  EXPECT_EQ(said.last_line(), first);
  const Said both = chat({"hello there", first, "number 7"});
  EXPECT_NE(said.out.find("\n" + both.out.substr(0, both.out.find('\n')) + "\n"),
            std::string::npos)
      << said.out << both.out;
  EXPECT_EQ(say_to("", {"chat", "--model", model_}).status, success);
  const Said wrong = say_to("a\xff\nhello there\n", {"chat", "--model", model_});
  EXPECT_EQ(wrong.status, failure);
  EXPECT_EQ(wrong.last_line(), first) << "what is refused is not remembered";
}

TEST_F(ChatCommand, ExplainsAndServes) {
  serve::Models models;
  models.add("chat", "own", model_);
  const serve::Service service({}, std::move(models));
  const auto post = [&](const nlohmann::json& body) {
    serve::Request request;
    request.method = "POST";
    request.path = "/api/chat";
    request.body = body.dump();
    const serve::Plan plan = service.plan(request);
    return plan.later ? serve::Service::run(plan.later) : plan.now;
  };
  const serve::Response turns = post({{"turns", {"hello there", "what is it?", "number 7"}}});
  ASSERT_EQ(turns.status, 200) << turns.text;
  EXPECT_EQ(nlohmann::json::parse(turns.text).at("map").at("kind"), "alignment");
  EXPECT_EQ(post({{"text", "hello there"}}).status, 200);
  for (const nlohmann::json& wrong :
       std::vector<nlohmann::json>{nlohmann::json::object(),
                                   {{"turns", nlohmann::json::array()}},
                                   {{"turns", {1}}},
                                   {{"turns", {"a", "b"}}},
                                   {{"text", "a"}, {"forbid", {0}}},
                                   {{"text", "a"}, {"turns", {"a"}}}})
    EXPECT_EQ(post(wrong).status, 400) << wrong;
  if (!serve::has_page()) GTEST_SKIP() << "the page is built where npm is found";
  const std::string page = (scratch_->path() / "page.html").string();
  const Said said = say({"explain", "chat", "hello there", "--model", model_, "--html", page});
  EXPECT_EQ(said.status, success) << said.err;
  EXPECT_TRUE(std::filesystem::exists(page));
}

TEST_F(ChatCommand, IsScoredOnItsOwnDialogues) {
  const Said said = say({"eval", "chat", "--model", model_, "--json"});
  ASSERT_EQ(said.status, success) << said.err;
  const auto scores = nlohmann::json::parse(said.out).at("scores");
  for (const char* name : {"right of ten", "joint goal", "BLEU"})
    EXPECT_TRUE(scores.contains(name)) << said.out;
}

/// With the model that ships, whose own replies are the system's turns.
TEST(ChatShipped, KeepsADialogueOfEightTurns) {
  if (!std::filesystem::exists(std::filesystem::path(ATTN_SHIPPED_MODELS) / "chat"))
    GTEST_SKIP() << "no model of chat ships";
  ASSERT_EQ(setenv("ATTN_MODELS", ATTN_SHIPPED_MODELS, 1), 0);
  const std::vector<std::string> said{"I want to find a hotel in San Diego.",
                                      "That sounds good. I want to book a room there.",
                                      "Two days, from March 5th.", "Yes, that is right."};
  std::vector<std::string> turns{"chat", "--json"};
  nlohmann::json line;
  for (const std::string& turn : said) {
    turns.push_back(turn);
    const Said answered = say(turns);
    ASSERT_EQ(answered.status, success) << answered.err;
    line = nlohmann::json::parse(answered.out);
    EXPECT_FALSE(line.at("text").get<std::string>().empty());
    turns.push_back(line.at("text"));
  }
  // What was said in the first turn is still wanted in the seventh.
  EXPECT_NE(line.at("table").dump().find("San Diego"), std::string::npos) << line;
  unsetenv("ATTN_MODELS");
}

}  // namespace
}  // namespace attn::tools
