// look: a digit somewhere on a picture is recognised by a few glimpses.

#include "attn/tasks/task.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "tasks/look/network.hpp"
#include "tasks/look/scene.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

using Json = nlohmann::json;

constexpr double kMillion = 1e6;

class LookTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "look",
        .about = "a digit on a large picture is recognised by a few glimpses",
        .title = "Recognise a digit by a few glimpses",
        .help =
            "The model never sees the whole picture. It looks eight times, each time at a "
            "small "
            "sharp square\n"
            "inside coarser ones, and has learnt from reward alone where to look next. The "
            "answer is the digit\n"
            "and how likely each is, then the path: where it looked, and what it would have "
            "said "
            "there.\n"
            "--scene is what it learnt from: translated (60 x 60 pixels), cluttered (pieces of "
            "other digits\n"
            "around) or large (100 x 100, cluttered). Pictures are PNG files of any size, dark "
            "on light or\n"
            "light on dark.\n"
            "\nExamples:\n"
            "    attn look --sample 5 --save-samples scenes\n"
            "    attn look --scene cluttered scenes/scene-00001.png --map path.svg\n"
            "    attn look mine.png --json\n"
            "    attn look mine.png --show\n"
            "    attn train look --scene large --policy random --out random --minutes 10",
        .metric = "error",
        .score = "error",
        .variant_flag = "scene",
        .variants = look::scene_names(),
        .one_example = "scene",
        .examples = "scenes",
        .reads = TaskCard::Reads::pictures,
        .argument = "images",
        .argument_type = "FILE.png",
        .argument_help = "PNG files"};
    return kCard;
  }

  std::vector<std::string> fields() const override { return {"picture"}; }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    const auto whole = [](const char* flag, const char* help, double most) {
      return Setting{
          flag, std::string("model.") + flag, About::model, "Look", help, Kind::whole, {}, 1,
          most};
    };
    const auto choice = [](const char* flag, About about, const char* help,
                           std::vector<std::string> values) {
      return Setting{flag,
                     std::string("model.") + flag,
                     about,
                     "Look",
                     help,
                     Kind::name,
                     std::move(values)};
    };
    return {
        choice("scene", About::data, "What look learns from and is tested on",
               look::scene_names()),
        choice("kind", About::model,
               "How a picture is read: by glimpses, or by a convolutional net of equal cost",
               {"glimpses", "convolution"}),
        choice("policy", About::model, "Who chooses the places: what was learnt, or chance",
               {"learnt", "random"}),
        whole("glimpses", "Glimpses of a picture", 64),
        whole("patch", "Cells on a side of the retina's squares", 64),
        whole("scales", "Squares of a glimpse, each twice as wide as the last", 8),
        whole("what", "Numbers that a glimpse becomes", 4096),
        whole("where", "Numbers that its place becomes", 4096),
        whole("hidden", "Size of the recurrent core", 4096),
        choice("core", About::model,
               "What the recurrent core learns from: answers, or both answers and places",
               {"answers", "both"}),
        Setting{"reinforce",
                "model.reinforce",
                About::model,
                "Look",
                "Weight of the losses of the places",
                Kind::real,
                {},
                0,
                100},
        Setting{"sigma",
                "model.sigma",
                About::model,
                "Look",
                "Spread of the places tried at first, in half sides; it falls",
                Kind::real,
                {},
                0.001,
                10}};
  }

  Corpus corpus(const Json& what, const Say& say) const override {
    return look::corpus_of(load_digits(say),
                           look::scene_named(what.at("model").at("scene").get<std::string>()));
  }

  /// Wrong labels of 100, and the cost of an answer.
  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    double wrong = 0.0;
    double cost = 0.0;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const Answer& answer = replies[i].answers.front();
      wrong += answer.text == examples[i].targets.front() ? 0.0 : 1.0;
      const auto at = answer.numbers.find(look::kMultiplyAdds);
      if (at != answer.numbers.end()) cost += static_cast<double>(at->second.front());
    }
    const auto count = static_cast<double>(examples.size());
    return {{"error", 100.0 * wrong / count},
            {"million multiply-adds", cost / count / kMillion}};
  }

  /// Saying the commonest digit of the part that is learnt from.
  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    std::map<std::string, std::size_t> counts;
    for (const Example& example : corpus.train) ++counts[example.targets.front()];
    std::string best;
    for (const auto& [label, count] : counts)
      if (best.empty() || count > counts[best]) best = label;
    double right = 0.0;
    for (const Example& example : corpus.test)
      right += example.targets.front() == best ? 1.0 : 0.0;
    const double all = static_cast<double>(std::max<std::size_t>(1, corpus.test.size()));
    return {{"always " + best, {{"error", 100.0 - 100.0 * right / all}}}};
  }

  std::string facts_text(const Corpus& corpus) const override {
    std::string text = "\n  digits of MNIST: " + std::to_string(corpus.train.size()) +
                       " train, of which each epoch composes new scenes; a scene of each of " +
                       std::to_string(corpus.development.size()) + " for development and " +
                       std::to_string(corpus.test.size()) +
                       " for the test; parts share no digit\n";
    for (const look::SceneKind& kind : look::scene_kinds())
      text += "  " + std::string(kind.name) + ": " + std::to_string(kind.side) + " x " +
              std::to_string(kind.side) + " pixels, " + std::to_string(kind.pieces) +
              " pieces of other digits\n";
    return text;
  }

  std::vector<Contender> contenders() const override {
    return {{"glimpses", "glimpses where they were learnt to be", {{"model", Json::object()}}},
            {"random", "glimpses anywhere", {{"model", {{"policy", "random"}}}}},
            {"convolution",
             "a convolutional net of equal cost",
             {{"model", {{"kind", "convolution"}}}}}};
  }

 protected:
  Json initial(const Json& asked) const override {
    const auto pointer = Json::json_pointer("/model/scene");
    const std::string scene = asked.contains(pointer) && asked[pointer].is_string()
                                  ? asked[pointer].get<std::string>()
                                  : look::scene_names().front();
    // The retina is the same for all, so that the cost is: four squares of 12 cells reach over
    // 96 pixels.
    return {{"model",
             {{"scene", scene},
              {"kind", "glimpses"},
              {"policy", "learnt"},
              {"glimpses", 8},
              {"patch", 12},
              {"scales", 4},
              {"what", 128},
              {"where", 64},
              {"hidden", 192},
              {"sigma", 0.2},
              {"reinforce", 0.1},
              {"core", "both"}}}};
  }

  TrainingOptions training(const Json&) const override {
    return {.batch_tokens = 512,
            .rate = 1.5e-3,
            .warm_up = 2000,
            .smoothing = 0.0,
            .clip = 5.0,
            .decay = 1e-3,
            .average = 0.9995,
            .evaluate_every = 2000,
            .evaluate_on = 3000,
            .patience = 0};
  }

  Lexicon lexicon(const Json&, const Corpus&, const TrainingTools&) const override {
    return {};
  }

  std::shared_ptr<Network> network(const Json& model, Lexicon,
                                   const std::string& where) const override {
    return look::make_network(model, where);
  }
};

}  // namespace

const Task& look_task() {
  static const LookTask kTask;
  return kTask;
}

}  // namespace attn::tasks
