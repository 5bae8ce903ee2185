// attn answer as a newcomer meets it: a picture and a question, lines of both, JSON, a map, a
// page, and a request.

#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>
#include <variant>

#include "attn/files/json.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/answer/toy.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/png.hpp"
#include "tools/say.hpp"
#include "tools/serve/assets.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/service.hpp"

namespace attn::tools {
namespace {

class AnswerCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (program_beside("attn-picture").empty()) GTEST_SKIP() << "attn-picture was not built";
    tasks::answer_toy::train(model_, "parallel", 3);
    const tasks::Picture& picture =
        std::get<tasks::Picture>(tasks::answer_toy::corpus().test.front().parts.at("picture"));
    write_png(picture_, picture.pixels, 64, 64, 3);
  }

  tasks::Scratch scratch_;
  std::filesystem::path model_ = scratch_.path() / "model";
  std::filesystem::path picture_ = scratch_.path() / "squares.png";
};

TEST_F(AnswerCommand, SaysTheAnswerFirst) {
  const Said said = say({"answer", "--model", model_, picture_, "What color is left?"});
  ASSERT_EQ(said.status, success) << said.err;
  const std::string first = said.out.substr(0, said.out.find('\n'));
  EXPECT_TRUE(first == "red" || first == "green" || first == "blue") << said.out;
  const Said json =
      say({"answer", "--model", model_, picture_, "What color is left?", "--json"});
  const auto line = nlohmann::json::parse(json.out);
  EXPECT_EQ(line.at("text"), first);
  EXPECT_EQ(line.at("output").at("labels").size(), 3u);
  EXPECT_EQ(line.at("input").at("question"), "What color is left?");
  EXPECT_EQ(line.at("numbers").at("question_places").size(), 64u);
}

TEST_F(AnswerCommand, AnswersALineEachAndNamesThoseItRefuses) {
  std::istringstream text(picture_.string() + "\tWhat color is right?\nmissing.png\tWhat?\n\n" +
                          picture_.string() + "\n");
  std::streambuf* const before = std::cin.rdbuf(text.rdbuf());
  const Said said = say({"answer", "--model", model_, "-"});
  std::cin.rdbuf(before);
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("line 2 of standard input is not answered: "), std::string::npos);
  EXPECT_NE(said.err.find("missing.png"), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("line 4 of standard input has an empty question"), std::string::npos)
      << said.err;
  EXPECT_EQ(say({"answer", "--model", model_, picture_}).status, usage);
  EXPECT_EQ(say({"answer", "--model", model_, picture_, "?"}).status, failure);
}

TEST_F(AnswerCommand, DrawsAndExplains) {
  const std::string map = (scratch_.path() / "map.json").string();
  ASSERT_EQ(
      say({"answer", "--model", model_, picture_, "What color is left?", "--map", map}).status,
      success);
  const auto json = files::read_json(map);
  EXPECT_EQ(json.at("kind"), "image");
  ASSERT_EQ(json.at("steps").size(), 3u);
  EXPECT_NE(json.at("steps")[0].at("label").get<std::string>().find("words: "),
            std::string::npos);
  if (!serve::has_page()) GTEST_SKIP() << "the page is built where npm is found";
  const std::string page = (scratch_.path() / "page.html").string();
  const Said said = say({"explain", "answer", picture_, "What color is left?", "--model",
                         model_, "--html", page});
  EXPECT_EQ(said.status, success) << said.err;
}

TEST_F(AnswerCommand, IsServedBesideOthersOnTheRouteOfItsName) {
  serve::Models models;
  models.add("answer", "mine", model_);
  models.add("caption", "soft", ATTN_SHIPPED_MODELS "/caption-soft");
  const serve::Service service({}, std::move(models));
  const auto post = [&](const std::string& path, const nlohmann::json& body) {
    serve::Request request;
    request.method = "POST";
    request.path = path;
    request.body = body.dump();
    const serve::Plan plan = service.plan(request);
    return plan.later ? serve::Service::run(plan.later) : plan.now;
  };
  const tasks::Value& squares = tasks::answer_toy::corpus().test.front().parts.at("picture");
  nlohmann::json question{{"task", "answer"},
                          {"picture", tasks::json_of(squares)},
                          {"question", "what color is left?"}};
  const serve::Response right = post("/api/answer", question);
  ASSERT_EQ(right.status, 200) << right.text;
  const auto reply = nlohmann::json::parse(right.text);
  EXPECT_EQ(reply.at("map").at("kind"), "image");
  EXPECT_EQ(reply.at("output").at("labels").size(), 3u);
  // The route is everybody's: without a task it is asked for one.
  EXPECT_EQ(post("/api/answer", {{"task", "caption"}, {"picture", question["picture"]}}).status,
            200);
  question.erase("task");
  const serve::Response without = post("/api/answer", question);
  EXPECT_EQ(without.status, 400);

  for (const auto& [member, value] : {std::pair<const char*, nlohmann::json>{"width", 65},
                                      {"height", 0},
                                      {"channels", 4},
                                      {"pixels", "%%%"},
                                      {"width", 1e12}}) {
    nlohmann::json bad{{"task", "answer"},
                       {"picture", tasks::json_of(squares)},
                       {"question", "what color is left?"}};
    bad["picture"][member] = value;
    const serve::Response refused = post("/api/answer", bad);
    EXPECT_EQ(refused.status, 400) << member << ": " << refused.text;
    EXPECT_NE(refused.text.find("picture"), std::string::npos) << refused.text;
  }
}

}  // namespace
}  // namespace attn::tools
