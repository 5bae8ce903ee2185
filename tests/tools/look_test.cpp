// The commands look and paint: what they print, write and refuse, and their server.

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

#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/caption/support.hpp"
#include "tasks/look/scene.hpp"
#include "tasks/paint/pixels.hpp"
#include "tasks/pictures.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/pictures.hpp"
#include "tools/attn/png.hpp"
#include "tools/say.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/service.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

class PictureTasks : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  /// A model that saw two batches.
  std::string model(const std::string& task, const tasks::Corpus& corpus,
                    const nlohmann::json& options) const {
    const tasks::Task& about = tasks::task_named(task);
    tasks::TrainingRun run = about.defaults({}, nullptr);
    about.read({{"model", options}}, "the test", run.what);
    run.how.batch_tokens = 2;
    run.how.evaluate_on = 1;
    run.where.folder = file(task);
    run.budget.steps = 2;
    save_run(run);
    const auto learner = about.learner(run, corpus, {});
    learner->begin(run.where.folder);
    train(*learner, run);
    return file(task);
  }
  std::string looker() const {
    return model("look",
                 tasks::look::corpus_of(parts(), tasks::look::scene_named("translated")),
                 {{"glimpses", 2}, {"patch", 4}, {"what", 4}, {"where", 2}, {"hidden", 4}});
  }
  std::string painter() const {
    return model("paint", tasks::paint::corpus_of(parts()),
                 {{"dim", 8}, {"layers", 1}, {"heads", 2}, {"feed_forward", 8}});
  }
  std::string picture(const std::string& name) const {
    const tasks::Digits digits = tasks::toy::digits();
    const auto pixels = digits.at(4);
    write_png(file(name), std::vector<std::uint8_t>(pixels.begin(), pixels.end()), 28, 28);
    return file(name);
  }
  std::string text(const std::string& name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static nlohmann::json served(const std::string& task, const std::string& folder,
                               const nlohmann::json& question, int status) {
    serve::Models models;
    models.add(task, "mine", folder);
    const serve::Service service({}, std::move(models));
    serve::Request request;
    request.method = "POST";
    request.path = "/api/" + task;
    request.body = question.dump();
    const serve::Plan plan = service.plan(request);
    const serve::Response response = plan.later ? serve::Service::run(plan.later) : plan.now;
    EXPECT_EQ(response.status, status) << response.text;
    return nlohmann::json::parse(response.text);
  }

 private:
  static tasks::DigitParts parts() {
    return {tasks::toy::digits(), tasks::toy::digits(), tasks::toy::digits()};
  }
  tasks::Scratch folder_;
};

TEST_F(PictureTasks, LookTellsItsPathAndItsJson) {
  const std::string folder = looker();
  const Said one = say({"look", "--model", folder, picture("a.png"), "--map", file("m.json")});
  ASSERT_EQ(one.status, success) << one.err;
  EXPECT_NE(one.out.find("a.png\t"), std::string::npos);
  EXPECT_NE(one.out.find("glimpse  x"), std::string::npos) << one.out;
  const auto map = nlohmann::json::parse(text("m.json"));
  EXPECT_EQ(map["kind"], "image");
  EXPECT_EQ(map["steps"][0]["path"].size(), 2u);

  const Said two = say({"look", "--model", folder, picture("a.png"), picture("b.png")});
  EXPECT_EQ(two.out.find("glimpse"), std::string::npos) << "a line each";

  const Said json = say({"look", "--model", folder, "--json", picture("a.png")});
  ASSERT_EQ(json.status, success) << json.err;
  const auto line = nlohmann::json::parse(json.out);
  EXPECT_EQ(line["table"]["rows"].size(), 2u);
  EXPECT_EQ(line["text"], line["output"]["labels"][0]["name"]);
  EXPECT_GT(line["numbers"]["multiply_adds"][0].get<double>(), 0.0);

  write_png(file("blank.png"), std::vector<std::uint8_t>(900, 255), 30, 30);
  const Said blank = say({"look", "--model", folder, file("blank.png")});
  EXPECT_EQ(blank.status, failure);
  EXPECT_NE(blank.err.find("nothing on it"), std::string::npos) << blank.err;
  EXPECT_EQ(say({"look", "--model", folder, "--scene", "large", picture("a.png")}).status,
            failure)
      << "the model is of other scenes";
  EXPECT_EQ(say({"look", "--model", folder}).status, usage) << "no picture";
}

TEST_F(PictureTasks, PaintWritesItsPicture) {
  const std::string folder = painter();
  const Said said = say({"paint", "--model", folder, "--class", "7", "--out", file("p.png")});
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_EQ(read_picture(file("p.png")).width, 28);
  const Said again = say({"paint", "--model", folder, "--class", "7"});
  EXPECT_EQ(said.out, again.out) << "a function of the seed";
  const Said other = say({"paint", "--model", folder, "--class", "7", "--seed", "2"});
  EXPECT_NE(said.out, other.out);
  ASSERT_EQ(say({"paint", "--model", folder, picture("h.png"), "--rows", "20", "--out",
                 file("w.png"), "--map", file("m.json")})
                .status,
            success);
  const std::vector<std::uint8_t> half = tasks::grey_of(read_picture(file("h.png")));
  const std::vector<std::uint8_t> whole = tasks::grey_of(read_picture(file("w.png")));
  for (std::size_t i = 0; i < 20 * 28; ++i) ASSERT_EQ(half[i], whole[i]) << i;
  EXPECT_EQ(say({"paint", "--model", folder, "--class", "11"}).status, failure);
  EXPECT_EQ(say({"paint", "--model", folder, picture("a.png"), picture("b.png"), "--out",
                 file("w.png")})
                .status,
            usage);
}

TEST_F(PictureTasks, AreServed) {
  const tasks::Digits digits = tasks::toy::digits();
  const auto pixels = digits.at(4);
  const nlohmann::json picture =
      tasks::json_of(tasks::Value(tasks::Picture{28, 28, 1, {pixels.begin(), pixels.end()}}));
  const auto looked = served("look", looker(), {{"picture", picture}}, 200);
  EXPECT_EQ(looked["map"]["kind"], "image");
  EXPECT_EQ(looked["table"]["columns"][0], "glimpse");
  served("look", file("look"), nlohmann::json::object(), 400);

  const auto painted = served("paint", painter(), {{"class", 3}, {"seed", "4"}}, 200);
  EXPECT_EQ(painted["output"]["width"], 28);
  EXPECT_EQ(painted["map"]["kind"], "image");
  served("paint", file("paint"), {{"class", 30}}, 400);
  served("paint", file("paint"), {{"class", nlohmann::json::array({1})}}, 400);
  served("paint", file("paint"), {{"picture", "no"}}, 400);
}

}  // namespace
}  // namespace attn::tools
