// The tasks that learn from pairs of texts, behind the interface of every task.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/pair_learner.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "tasks/pairs/pair_answers.hpp"
#include "tasks/pairs/pair_settings.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

class TextTask final : public Task {
 public:
  explicit TextTask(const PairTask& recipe) : recipe_(recipe) {}

  const TaskCard& card() const override { return recipe_.card; }
  const models::SearchOptions* search() const override { return &recipe_.search; }

  std::unique_ptr<Model> load(const std::filesystem::path& folder) const override {
    return answering(beginning_of(name(), folder), *this);
  }

  TrainingRun defaults(const nlohmann::json& asked, const Corpus* corpus) const override {
    const bool begins = asked.contains("begin") && !asked["begin"].empty();
    PairTask recipe = recipe_;
    if (corpus != nullptr && recipe.suit && !begins) recipe.suit(recipe, *corpus);
    PairSettings settings;
    settings.tokens = recipe.tokens;
    settings.model = recipe.model;
    settings.limits = recipe.limits;
    if (begins) {
      const PairModel other = beginning_of(name(), asked["begin"].at(0).get<std::string>());
      settings.model = other.options;
      settings.limits = other.limits;
      settings.tokens.shared = other.source.checksum() == other.target.checksum();
    }
    TrainingRun run;
    run.task = name();
    run.what = json_of(settings);
    run.how = recipe.training;
    return run;
  }

  void read(const nlohmann::json& object, const std::string& where,
            nlohmann::json& what) const override {
    PairSettings settings = pair_settings(what);
    read_settings(object, where, settings);
    what = json_of(settings);
  }
  std::vector<std::string> required() const override { return {"data", "model", "limits"}; }
  std::vector<Setting> settings() const override { return pair_flags(); }

  std::string misfit(const TrainingRun& run) const override {
    constexpr std::int64_t kAny = 100;  // the data tell how many there are
    models::ModelOptions options = pair_settings(run.what).model;
    options.source_vocabulary = options.target_vocabulary = options.max_source = kAny;
    try {
      models::validate(options);
    } catch (const InvalidArgument& error) {
      const std::string text = error.what();  // "attn::models::validate: dim 63 and ..."
      return text.substr(text.find(": ") + 2);
    }
    return "";
  }

  Corpus corpus(const nlohmann::json& what, const Say& say) const override {
    return load_corpus(recipe_, pair_settings(what), say);
  }

  void read_data_of(const Model& model, const std::filesystem::path& folder,
                    const nlohmann::json& asked, nlohmann::json& what) const override {
    // Who names a language names the task's own data.
    if (asked.contains("language")) return;
    PairSettings settings = pair_settings(what);
    tasks::read_data_of(folder, *model.pairs(), asked.contains("data"), settings);
    what = json_of(settings);
  }

  std::unique_ptr<Learner> learner(const TrainingRun& run, const Corpus& corpus,
                                   const TrainingTools& tools) const override {
    return pair_learner(recipe_, run, corpus, tools);
  }

  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    std::vector<std::string> answers;
    std::vector<std::vector<std::string>> references;
    for (const Reply& reply : replies) answers.push_back(reply.answers.front().text);
    for (const Example& example : examples) references.push_back(example.targets);
    return tasks::score(recipe_.metric, answers, references);
  }

  Scores evaluate(const Model& model, std::span<const Example> examples) const override {
    return tasks::evaluate(*model.pairs(), examples, recipe_.metric, {});
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    return recipe_.baselines ? recipe_.baselines(corpus) : std::vector<Baseline>{};
  }

  std::vector<Contender> contenders() const override {
    const auto contender = [](const char* name, const char* about, nlohmann::json model) {
      // Copying is another way to be right.
      model["copy"] = "none";
      return Contender{name, about, {{"model", std::move(model)}}};
    };
    return {
        contender("none", "RNN without attention", {{"kind", "rnn"}}),
        contender("dot", "Luong, dot", {{"kind", "luong"}, {"score", "dot"}}),
        contender("general", "Luong, general", {{"kind", "luong"}, {"score", "general"}}),
        contender("concat", "Luong, concat", {{"kind", "luong"}, {"score", "concat"}}),
        contender("local-m", "Luong, local monotonic",
                  {{"kind", "luong"}, {"score", "general"}, {"reach", "local-m"}}),
        contender("local-p", "Luong, local predictive",
                  {{"kind", "luong"}, {"score", "general"}, {"reach", "local-p"}}),
        contender("bahdanau", "Bahdanau, additive", {{"kind", "bahdanau"}}),
        contender("convolutional", "convolutional, multi-step", {{"kind", "convolutional"}}),
        contender("transformer", "Transformer", {{"kind", "transformer"}})};
  }

  std::vector<Example> gaps(const Corpus& corpus) const override {
    return recipe_.gaps ? recipe_.gaps(corpus) : std::vector<Example>{};
  }
  std::string make_split(const nlohmann::json& what, const Say& say) const override {
    return recipe_.make_split ? recipe_.make_split(pair_settings(what).language, say) : "";
  }

 private:
  const PairTask& recipe_;
};

}  // namespace

const std::vector<PairTask>& all_pair_tasks() {
  static const std::vector<PairTask> kTasks{pronounce_task(), translate_task(),
                                            summarise_task(), pairs_task()};
  return kTasks;
}

const PairTask& pair_task_named(std::string_view name) {
  std::string names;
  for (const PairTask& task : all_pair_tasks()) {
    if (task.card.name == name) return task;
    names += (names.empty() ? "" : ", ") + task.card.name;
  }
  fail("there is no task on pairs of texts ", files::in_quotes(name), "; there are ", names);
}

std::vector<const Task*> shipped_tasks() {
  static const std::vector<TextTask> kTexts(all_pair_tasks().begin(), all_pair_tasks().end());
  std::vector<const Task*> tasks;
  tasks.reserve(kTexts.size() + 1);
  for (const TextTask& task : kTexts) tasks.push_back(&task);
  tasks.push_back(&caption_task());
  return tasks;
}

}  // namespace attn::tasks
