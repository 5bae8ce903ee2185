// A task that no file of the program knows: pictures of 4 x 4 pixels become a label.
// Registered, it has a command, is trained, evaluated, answered and served as those that ship.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/state.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/png.hpp"
#include "tools/say.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/service.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;
using namespace tasks;  // NOLINT(google-build-using-namespace): this file is one task

constexpr std::int64_t kSide = 4;
const char* const kLabels[] = {"left", "right"};

/// Ink on one half.
Example half(std::size_t index) {
  const bool right = index % 2 == 1;
  Picture picture{kSide, kSide, 1, std::vector<std::uint8_t>(kSide * kSide, 0)};
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    if ((i % kSide >= 2) == right)
      picture.pixels[i] = static_cast<std::uint8_t>(80 + index % 100);
  Example example{"half-" + std::to_string(index), "", {kLabels[right ? 1 : 0]}};
  example.parts.emplace("picture", std::move(picture));
  return example;
}

Tensor pixels_of(std::span<const Picture> pictures) {
  std::vector<float> numbers;
  for (const Picture& picture : pictures)
    // Grey: the first of three channels is as good as any.
    for (std::size_t i = 0; i < picture.pixels.size();
         i += static_cast<std::size_t>(picture.channels))
      numbers.push_back(static_cast<float>(picture.pixels[i]) / 255.0f);
  return Tensor::from(numbers, {static_cast<std::int64_t>(pictures.size()), kSide * kSide});
}

class Side final : public nn::Module {
 public:
  Side() : out_(add("out", nn::Linear({.in = kSide * kSide, .out = 2}))) {}
  Tensor operator()(const Tensor& pixels) const { return out_(pixels); }

 private:
  nn::Linear out_;
};

const Task& side_task();

class SideModel final : public Model {
 public:
  explicit SideModel(const fs::path& folder) {
    nn::load_state(folder / "model.safetensors", *side_);
    side_->eval();
  }

  const Task& task() const override { return side_task(); }
  nn::Module& module() const override { return *side_; }
  std::string kind() const override { return "linear"; }
  std::string refusal(const Input& input) const override {
    const auto* picture = input.find<Picture>("picture");
    return picture != nullptr && picture->width == kSide && picture->height == kSide
               ? ""
               : "is not of 4 x 4 pixels";
  }
  std::vector<Reply> answer(std::span<const Input> inputs, const Choices&,
                            const Done&) const override {
    const NoGrad off_the_tape;
    std::vector<Reply> replies;
    for (const Input& input : inputs) {
      const Tensor chances = softmax((*side_)(pixels_of({input.find<Picture>("picture"), 1})));
      const float* chance = chances.data<float>();
      const std::size_t best = chance[0] > chance[1] ? 0 : 1;
      Answer said;
      said.text = kLabels[best];
      said.output =
          Labels{{kLabels[best], chance[best]}, {kLabels[1 - best], chance[1 - best]}};
      said.finished = true;
      said.weights.assign(kSide * kSide, 1.0f / (kSide * kSide));
      Reply& reply = replies.emplace_back();
      reply.answers.push_back(said);
      reply.pieces.emplace_back().answers.push_back(said);
    }
    return replies;
  }
  maps::Map map(const Input& input, const Piece& piece, std::string_view) const override {
    maps::Image image;
    image.title = piece.answers.front().text;
    image.width = image.height = kSide;
    image.pixels = input.find<Picture>("picture")->pixels;
    image.channels = static_cast<std::size_t>(input.find<Picture>("picture")->channels);
    image.steps.push_back(
        {image.title, maps::Matrix{kSide, kSide, piece.answers.front().weights}, {}});
    return image;
  }
  nlohmann::json json_of(const Input&, const Reply& reply, Detail) const override {
    return {{"text", reply.answers.front().text},
            {"output", tasks::json_of(*reply.answers.front().output)}};
  }
  nlohmann::json line_of(const std::string& name, const Input& input, const Reply& reply,
                         Detail detail) const override {
    nlohmann::json line = json_of(input, reply, detail);
    line["image"] = name;
    return line;
  }

 private:
  std::shared_ptr<Side> side_ = std::make_shared<Side>();
};

class SideLearner final : public Learner {
 public:
  SideLearner(const TrainingRun& run, const Corpus& corpus)
      : batch_(run.what.at("batch").get<std::size_t>()), corpus_(corpus) {}

  nn::Module& module() override { return side_; }
  std::int64_t begin_epoch(std::int64_t) override {
    return static_cast<std::int64_t>(corpus_.train.size() / batch_);
  }
  Lesson learn(std::int64_t step) override {
    std::vector<Picture> pictures;
    std::vector<std::int64_t> labels;
    for (std::size_t i = 0; i < batch_; ++i) {
      const Example& example = corpus_.train[static_cast<std::size_t>(step) * batch_ + i];
      pictures.push_back(std::get<Picture>(example.parts.at("picture")));
      labels.push_back(example.targets.front() == kLabels[1] ? 1 : 0);
    }
    const Tensor targets = Tensor::from(labels, {static_cast<std::int64_t>(batch_)});
    return {cross_entropy(side_(pixels_of(pictures)), targets),
            static_cast<std::int64_t>(batch_)};
  }
  Evaluation evaluate() override {
    double right = 0.0;
    for (const Example& example : corpus_.development) {
      const Tensor logits =
          side_(pixels_of({&std::get<Picture>(example.parts.at("picture")), 1}));
      const bool one = logits.data<float>()[1] > logits.data<float>()[0];
      right += example.targets.front() == kLabels[one ? 1 : 0] ? 1.0 : 0.0;
    }
    return {{{"right", 100.0 * right / static_cast<double>(corpus_.development.size())}}, {}};
  }
  void save(const fs::path& folder, const std::string&) override {
    files::write_json(folder / "config.json", {{"format", 1}, {"task", "side"}});
    nn::save_state(folder / "model.safetensors", side_, DType::f32);
  }
  std::string identity() const override { return "side " + std::to_string(batch_); }
  nlohmann::json data() const override { return {{"name", corpus_.name}}; }
  std::string about() const override { return "pictures to learn from"; }

 private:
  Side side_;
  std::size_t batch_;
  Corpus corpus_;
};

class SideTask final : public Task {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{.name = "side",
                                .about = "a picture becomes the side its ink is on",
                                .title = "Say on which side the ink is",
                                .help = "Examples:\n    attn side mine.png",
                                .metric = "accuracy",
                                .score = "right",
                                .ships = false,
                                .reads = TaskCard::Reads::pictures,
                                .argument = "images",
                                .argument_type = "FILE.png",
                                .argument_help = "Pictures"};
    return kCard;
  }
  std::unique_ptr<Model> load(const fs::path& folder) const override {
    return std::make_unique<SideModel>(folder);
  }
  std::vector<std::string> fields() const override { return {"picture"}; }
  TrainingRun defaults(const nlohmann::json&, const Corpus*) const override {
    TrainingRun run;
    run.task = name();
    run.what = {{"batch", 4}};
    run.how.rate = 0.1;
    run.how.warm_up = 2;
    run.how.average = 0.5;
    return run;
  }
  void read(const nlohmann::json& object, const std::string& where,
            nlohmann::json& what) const override {
    if (object.contains("batch")) what["batch"] = files::to_int(object["batch"], where);
  }
  std::vector<std::string> required() const override { return {"batch"}; }
  std::vector<Setting> settings() const override {
    return {{"batch",
             "batch",
             Setting::About::loss,
             "Side",
             "Pictures of a step",
             Setting::Kind::whole,
             {},
             1,
             8}};
  }
  Corpus corpus(const nlohmann::json&, const Say&) const override {
    Corpus corpus;
    corpus.name = "halves";
    corpus.shuffled = true;
    for (std::size_t i = 0; i < 16; ++i) corpus.train.push_back(half(i));
    for (std::size_t i = 16; i < 24; ++i) corpus.development.push_back(half(i));
    for (std::size_t i = 24; i < 34; ++i) corpus.test.push_back(half(i));
    return corpus;
  }
  std::unique_ptr<Learner> learner(const TrainingRun& run, const Corpus& corpus,
                                   const TrainingTools&) const override {
    nn::random() = Random(run.how.seed).named("weights");
    return std::make_unique<SideLearner>(run, corpus);
  }
  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    double right = 0.0;
    for (std::size_t i = 0; i < examples.size(); ++i)
      right += replies[i].answers.front().text == examples[i].targets.front() ? 1.0 : 0.0;
    return {{"right", 100.0 * right / static_cast<double>(examples.size())}};
  }
};

const Task& side_task() {
  return task_named("side");
}

class OwnTask : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  Said train(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> words{"train", "side", "--out", file(out), "--evaluate-every",
                                   "10"};
    words.insert(words.end(), more.begin(), more.end());
    return say(words);
  }

 private:
  tasks::Scratch folder_;
  TaskRegistration registration_{std::make_unique<SideTask>()};
};

TEST_F(OwnTask, IsTrainedResumedEvaluatedAndAnswersBehindEveryDoor) {
  const Said trained = train("whole", {"--steps", "40", "--batch", "8"});
  ASSERT_EQ(trained.status, success) << trained.err;
  EXPECT_NE(trained.out.find("right 100.00"), std::string::npos) << trained.out;

  const Said scored = say({"eval", "side", "--model", file("whole"), "--json"});
  ASSERT_EQ(scored.status, success) << scored.err;
  EXPECT_EQ(nlohmann::json::parse(scored.out)["scores"]["right"], 100.0);
  EXPECT_EQ(nlohmann::json::parse(scored.out)["examples"], 10);

  const Picture picture = std::get<Picture>(half(25).parts.at("picture"));
  write_png(file("a.png"), picture.pixels, kSide, kSide);
  const Said said =
      say({"side", "--model", file("whole"), file("a.png"), "--map", file("m.json")});
  EXPECT_EQ(said.out, file("a.png") + "\tright\n") << said.err;
  EXPECT_TRUE(fs::exists(file("m.json")));

  const Answerer answerer{fs::path(file("whole"))};
  const Reply reply = answerer(picture);
  EXPECT_EQ(reply.answers.front().text, "right");
  EXPECT_EQ(std::get<Labels>(*reply.answers.front().output).front().name, "right");
  EXPECT_THROW(answerer("a text"), InvalidArgument);

  serve::Models models;
  models.add("side", "mine", file("whole"));
  const serve::Service service({}, std::move(models));
  for (const char* path : {"/api/side", "/api/answer"}) {
    serve::Request request;
    request.method = "POST";
    request.path = path;
    nlohmann::json question{{"picture", tasks::json_of(Value(picture))}};
    if (request.path == "/api/answer") question["task"] = "side";
    request.body = question.dump();
    const serve::Plan plan = service.plan(request);
    const serve::Response response = plan.later ? serve::Service::run(plan.later) : plan.now;
    ASSERT_EQ(response.status, 200) << response.text;
    const auto json = nlohmann::json::parse(response.text);
    EXPECT_EQ(value_of(json.at("output"), "output"), *reply.answers.front().output) << path;
  }
}

TEST_F(OwnTask, ResumesToTheSameModel) {
  ASSERT_EQ(train("whole", {"--steps", "20"}).status, success);
  ASSERT_EQ(train("half", {"--steps", "10"}).status, success);
  const Said resumed = train("half", {"--resume", "--steps", "20"});
  ASSERT_EQ(resumed.status, success) << resumed.err;
  const auto bytes = [&](const char* run) {
    std::ifstream in(fs::path(file(run)) / "model.safetensors", std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  EXPECT_EQ(bytes("whole"), bytes("half"));
}

TEST_F(OwnTask, ItsFlagsAreItsOwn) {
  EXPECT_EQ(train("a", {"--batch", "9"}).status, usage) << "8 at most";
  EXPECT_EQ(train("a", {"--dim", "8"}).status, failure) << "of another task";
  EXPECT_EQ(say({"train", "pronounce", "--out", file("a"), "--batch", "2"}).status, failure);
}

TEST(Values, GoThroughJsonUnchanged) {
  const std::vector<Value> values{
      std::string("text"),
      Picture{2, 1, 3, {1, 2, 3, 4, 5, 255}},
      Frames{Picture{1, 1, 1, {0}}, Picture{1, 1, 1, {9}}},
      Sound{8000, {0.5f, -1.0f}},
      Labels{{"yes", 0.75}, {"no", 0.25}},
      tasks::Table{{"word", "head"}, {{std::string("a"), 2.0}, {std::string("cat"), 0.0}}}};
  for (const Value& value : values) EXPECT_EQ(value_of(json_of(value), "v"), value);
  for (const char* wrong : {R"({"width": 2, "height": 2, "pixels": "AA=="})", R"({"rate": 0})",
                            R"({"columns": ["a"], "rows": [[1, 2]]})", "7", "{}"})
    EXPECT_THROW(value_of(nlohmann::json::parse(wrong), "v"), FileError) << wrong;
}

}  // namespace
}  // namespace attn::tools
