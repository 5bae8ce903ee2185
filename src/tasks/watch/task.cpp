// watch: a short clip becomes what is done in it.

#include "attn/tasks/task.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "tasks/tasks.hpp"
#include "tasks/watch/clips.hpp"
#include "tasks/watch/network.hpp"

namespace attn::tasks {
namespace {

using Json = nlohmann::json;

class WatchTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{.name = "watch",
                                .about = "a short clip becomes what is done in it",
                                .title = "Name what is done in a clip",
                                .help = "",
                                .metric = "accuracy",
                                .score = "accuracy",
                                .one_example = "clip",
                                .examples = "clips",
                                .argument = "files",
                                .own_command = true,
                                .parts = {{"frames", "The frames of a clip"}}};
    return kCard;
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    return {Setting{"fold",
                    "fold",
                    About::data,
                    "Watch",
                    "Fifth of the units that is the test part; the next one is development",
                    Kind::whole,
                    {},
                    1,
                    5},
            Setting{"block",
                    "model.block",
                    About::model,
                    "Watch",
                    "Non-local block over all cells of all frames",
                    Kind::name,
                    {"none", "gaussian", "embedded", "dot", "concat"}},
            Setting{"frames",
                    "model.frames",
                    About::model,
                    "Watch",
                    "Whether it sees all frames, or the middle one",
                    Kind::name,
                    {"all", "one"}},
            Setting{"width",
                    "model.width",
                    About::model,
                    "Watch",
                    "Channels of the cells",
                    Kind::whole,
                    {},
                    8,
                    512},
            Setting{"dropout",
                    "model.dropout",
                    About::model,
                    "Watch",
                    "Share of features dropped in training",
                    Kind::real,
                    {},
                    0,
                    0.9}};
  }

  Corpus corpus(const Json& what, const Say& say) const override {
    return watch::clip_corpus(what.at("fold").get<std::int64_t>(), say);
  }

  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    double right = 0.0;
    for (std::size_t i = 0; i < examples.size(); ++i)
      right += replies[i].answers.front().text == examples[i].targets.front() ? 1.0 : 0.0;
    const auto all = static_cast<double>(examples.size());
    return {{"accuracy", examples.empty() ? 0.0 : 100.0 * right / all}};
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    std::map<std::string, std::size_t> counts;
    for (const Example& clip : corpus.train) ++counts[clip.targets.front()];
    std::pair<std::string, std::size_t> best;
    for (const auto& [label, count] : counts)
      if (count > best.second) best = {label, count};
    double right = 0.0;
    for (const Example& clip : corpus.test)
      right += clip.targets.front() == best.first ? 1.0 : 0.0;
    const auto all = static_cast<double>(corpus.test.size());
    return {{"always " + best.first,
             {{"accuracy", corpus.test.empty() ? 0.0 : 100.0 * right / all}}}};
  }

  std::vector<Contender> contenders() const override {
    const auto with = [](const char* block, const char* frames) {
      return Json{{"model", {{"block", block}, {"frames", frames}}}};
    };
    return {{"embedded", "a non-local block, embedded Gaussian", with("embedded", "all")},
            {"gaussian", "a non-local block, Gaussian", with("gaussian", "all")},
            {"dot", "a non-local block, dot product", with("dot", "all")},
            {"concat", "a non-local block, concatenation", with("concat", "all")},
            {"none", "the same net without a block", with("none", "all")},
            {"one", "the middle frame alone", with("none", "one")}};
  }

  std::string facts_text(const Corpus& corpus) const override {
    std::map<std::string, std::size_t> counts;
    for (const auto* part : {&corpus.train, &corpus.development, &corpus.test})
      for (const Example& clip : *part) ++counts[clip.targets.front()];
    std::string text = "\n  " + files::printable(corpus.name) +
                       "\n  clips: " + std::to_string(corpus.train.size()) + " train, " +
                       std::to_string(corpus.development.size()) + " development, " +
                       std::to_string(corpus.test.size()) +
                       " test; parts share no unit\n  of all clips";
    for (const auto& [label, count] : counts) text += " " + label + " " + std::to_string(count);
    return text + "\n";
  }

 protected:
  Json initial(const Json&) const override {
    return {
        {"fold", 1},
        {"model", {{"block", "embedded"}, {"frames", "all"}, {"width", 48}, {"dropout", 0.3}}}};
  }

  TrainingOptions training(const Json&) const override {
    return {.batch_tokens = 32,
            .rate = 2e-3,
            .warm_up = 100,
            .smoothing = 0.0,
            .clip = 1.0,
            .decay = 0.02,
            .average = 0.99,
            .evaluate_every = 50,
            .evaluate_on = 400,
            .patience = 0};
  }

  Lexicon lexicon(const Json&, const Corpus&, const TrainingTools&) const override {
    Lexicon lexicon;
    lexicon.facts = {{"labels", watch::actions()}};
    return lexicon;
  }

  std::shared_ptr<Network> network(const Json& model, Lexicon lexicon,
                                   const std::string& where) const override {
    return std::make_shared<watch::WatchNetwork>(model, lexicon.facts, where);
  }
};

}  // namespace

const Task& watch_task() {
  static const WatchTask kTask;
  return kTask;
}

}  // namespace attn::tasks
