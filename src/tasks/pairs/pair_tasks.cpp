// The tasks that learn from pairs of texts, behind the interface of every task.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/pair_learner.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/pairs/read_pairs.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/text_data.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/loading.hpp"
#include "tasks/pairs/pair_settings.hpp"
#include "tasks/read_members.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

struct ModelFlag {
  const char* flag;
  const char* option;  ///< its name in ModelOptions
  const char* help;
};

constexpr ModelFlag kModelFlags[] = {
    {"model", "kind", "Kind of model"},
    {"score", "score", "Score function of luong"},
    {"reach", "reach", "Window of luong's attention"},
    {"feeding", "feeding", "Whether luong feeds the attended vector into the next step"},
    {"positions", "positions", "Position encoding of the transformer"},
    {"copy", "copy", "Whether to copy words from the source"},
    {"tie", "tie", "Which embedding tables are shared"},
    {"dim", "dim", "Size of embeddings and states"},
    {"encoder-layers", "encoder_layers", "Number of encoder layers"},
    {"decoder-layers", "decoder_layers", "Number of decoder layers"},
    {"heads", "heads", "Number of attention heads of the transformer"},
    {"feed-forward", "feed_forward", "Hidden size of the transformer's feed-forward layers"},
    {"kernel", "kernel", "Width of a convolution"},
    {"window", "window", "Positions on either side that local attention covers"},
    {"dropout", "dropout", "Share of features dropped in training"},
    {"word-dropout", "word_dropout", "Share of tokens hidden in training"},
};

/// In the order of text::Units.
constexpr const char* kUnits[] = {"characters", "words", "subwords"};

text::Units units_named(std::string_view name) {
  const auto* const at = std::find(std::begin(kUnits), std::end(kUnits), name);
  if (at == std::end(kUnits))
    fail("units are characters, words or subwords, not ", files::in_quotes(name));
  return static_cast<text::Units>(at - std::begin(kUnits));
}

void prepare_texts(const PairTask& task, std::vector<Example>& examples) {
  if (!task.prepare) return;
  for (Example& example : examples) example.source = task.prepare(example.source);
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const bool has = object.is_object() && object.contains(key) && object[key].is_string();
  return has ? object[key].get<std::string>() : "";
}

/// The word behind a flag in a command, or "".
std::string word_behind(std::string_view command, std::string_view flag) {
  const std::size_t at = command.find(flag);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = command.substr(at + flag.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

/// A folder without training.json, such as one that was copied: its card tells.
void read_card(const fs::path& folder, const PairModel& model, PairSettings& settings) {
  const nlohmann::json history = files::parse_json(model.history, files::path_text(folder));
  const nlohmann::json data = history.value("data", nlohmann::json::object());
  const std::string command = text_at(history, "command");
  std::string file = word_behind(command, " --data ");
  if (!text_at(data, "sha256").empty()) file = text_at(data, "name");
  if (!file.empty())
    fail<FileError>("the model in ", files::path_text(folder),
                    " learnt from a file of its own, ", files::in_quotes(file),
                    "; name that file with --data FILE to score it");
  std::string language = text_at(data, "language");
  if (language.empty()) language = word_behind(command, " --language ");
  if (!language.empty()) settings.language = language;
  const std::string texts = text_at(data, "texts");
  if (!texts.empty()) settings.texts = texts;
}

nlohmann::json json_of(const PairSettings& settings) {
  return {{"language", settings.language},
          {"texts", settings.texts},
          {"data", settings.data.string()},
          {"data_sha256", settings.data_checksum},
          {"source_column", settings.source_column},
          {"target_column", settings.target_column},
          {"source_units", name_of(settings.tokens.source)},
          {"target_units", name_of(settings.tokens.target)},
          {"vocabulary", settings.tokens.size},
          {"shared_vocabulary", settings.tokens.shared},
          {"limits", {{"source", settings.limits.source}, {"target", settings.limits.target}}},
          {"model", files::parse_json(models::to_json(settings.model), "model")}};
}

/// Sets what the object holds. FileError, which begins with `where`, for what does not fit.
void read_settings(const nlohmann::json& object, const std::string& where,
                   PairSettings& settings) {
  const auto into = [&](const char* key, std::string& value) {
    read_text(object, key, where, [&](const std::string& text) { value = text; });
  };
  into("language", settings.language);
  into("texts", settings.texts);
  into("data_sha256", settings.data_checksum);
  into("source_column", settings.source_column);
  into("target_column", settings.target_column);
  read_text(object, "data", where, [&](const std::string& path) { settings.data = path; });
  read_text(object, "source_units", where,
            [&](const std::string& name) { settings.tokens.source = units_named(name); });
  read_text(object, "target_units", where,
            [&](const std::string& name) { settings.tokens.target = units_named(name); });
  read_whole(object, "vocabulary", where, 1, settings.tokens.size);
  if (object.contains("shared_vocabulary"))
    settings.tokens.shared = files::to_bool(object.at("shared_vocabulary"), where);
  read_members(object, "limits", where,
               [&](const std::string& key, const nlohmann::json& value) {
                 (key == "source" ? settings.limits.source : settings.limits.target) =
                     files::to_int(value, where + ": limits." + key);
               });
  read_members(object, "model", where,
               [&](const std::string& key, const nlohmann::json& value) {
                 models::set_option(settings.model, key, flag_text(value));
               });
  // Unlike units cannot share a vocabulary, nor then a table.
  if (settings.tokens.source != settings.tokens.target) {
    settings.tokens.shared = false;
    if (settings.model.tie == models::Tie::all) settings.model.tie = models::Tie::output;
  }
}

std::vector<Setting> pair_flags() {
  using About = Setting::About;
  using Kind = Setting::Kind;
  const auto units = [](const char* flag, const char* member) {
    return Setting{flag,
                   member,
                   About::tokens,
                   "Data",
                   "Kind of token",
                   Kind::name,
                   {std::begin(kUnits), std::end(kUnits)}};
  };
  const auto size = [](const char* flag, const char* member, const char* help, double least,
                       double most) {
    return Setting{flag, member, About::tokens, "Data", help, Kind::whole, {}, least, most};
  };
  std::vector<Setting> flags{
      {"data", "data", About::data, "Data",
       "Your own pairs: source, tab, target (and further right targets); a .csv file has\n"
       "a header, a .jsonl file one object a line",
       Kind::path},
      {"source-column", "source_column", About::data, "Data",
       "Of a .csv or .jsonl file: its name, or number; default: source", Kind::name},
      {"target-column", "target_column", About::data, "Data",
       "Of a .csv or .jsonl file: its name, or number; default: target", Kind::name},
      {"language", "language", About::data, "Data",
       "Languages of translate: into it, da, fr, de or es from English; fr+de+es in one\n"
       "model; zh-en from Chinese",
       Kind::name, translate_choices()},
      {"texts",
       "texts",
       About::data,
       "Data",
       "Kinds of text of translate: everyday sentences, package descriptions, or all there are",
       Kind::name,
       {"all", "everyday", "descriptions"}},
      units("source-units", "source_units"),
      units("target-units", "target_units"),
      size("vocabulary", "vocabulary", "Size of the subword vocabulary", 300, 64000),
      size("source-tokens", "limits.source",
           "Longest source in tokens; summarise cuts longer ones, other tasks leave out\n"
           "longer pairs",
           1, 65536),
      size("target-tokens", "limits.target",
           "Longest target in training, and longest answer, in tokens", 1, 65536)};
  for (const ModelFlag& flag : kModelFlags)
    flags.push_back({flag.flag, std::string("model.") + flag.option, About::model, "Model",
                     flag.help, Kind::text, models::option_values(flag.option)});
  return flags;
}

/// The examples, texts prepared as the task does.
Corpus load_corpus(const PairTask& task, const PairSettings& settings, const Say& say) {
  Corpus corpus = settings.data.empty() ? task.load({settings.language, settings.texts}, say)
                                        : read_pairs(settings.data,
                                                     {.source_column = settings.source_column,
                                                      .target_column = settings.target_column},
                                                     say);
  prepare_texts(task, corpus.train);
  prepare_texts(task, corpus.development);
  prepare_texts(task, corpus.test);
  return corpus;
}

/// Which data a model in a folder learnt from: as training.json tells, or its card where no
/// other file is named.
void read_data_of(const fs::path& folder, const PairModel& model, bool named,
                  PairSettings& settings) {
  std::error_code ignored;
  if (!fs::exists(folder / "training.json", ignored)) {
    if (!named) read_card(folder, model, settings);
    return;
  }
  const PairSettings saved = pair_settings(load_run(folder).what);
  settings.language = saved.language;
  settings.texts = saved.texts;
  settings.data = saved.data;
  settings.data_checksum = saved.data_checksum;
  settings.source_column = saved.source_column;
  settings.target_column = saved.target_column;
}

/// The scores of each kind of text, where there are several.
Scores part_scores(const PairTask& task, std::span<const Example> examples,
                   const std::vector<std::string>& answers) {
  struct Part {
    std::vector<std::string> answers;
    std::vector<std::vector<std::string>> references;
  };
  std::map<std::string, Part> parts;
  if (task.part_of)
    for (std::size_t i = 0; i < examples.size(); ++i) {
      Part& part = parts[task.part_of(examples[i])];
      part.answers.push_back(answers[i]);
      part.references.push_back(examples[i].targets);
    }
  Scores scores;
  if (parts.size() < 2) return scores;
  for (const auto& [name, part] : parts)
    for (NamedScore& one : score(task.metric, part.answers, part.references))
      scores.push_back({one.name + " " + name, one.value});
  return scores;
}

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

  std::vector<PreparedFile> prepared() const override { return recipe_.prepared; }
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
    for (const Reply& reply : replies) answers.push_back(reply.answers.front().text);
    Scores scores = tasks::score(recipe_.metric, answers, targets_of(examples));
    const Scores of_parts = part_scores(recipe_, examples, answers);
    scores.insert(scores.end(), of_parts.begin(), of_parts.end());
    return scores;
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

std::string name_of(text::Units units) {
  return kUnits[static_cast<std::size_t>(units)];
}

PairSettings pair_settings(const nlohmann::json& what) {
  PairSettings settings;
  read_settings(what, "the settings", settings);
  return settings;
}

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
  tasks.reserve(kTexts.size() + 2);
  for (const TextTask& task : kTexts) tasks.push_back(&task);
  tasks.push_back(&answer_task());
  tasks.push_back(&caption_task());
  tasks.push_back(&remember_task());
  tasks.push_back(&cloze_task());
  tasks.push_back(&chat_task());
  tasks.push_back(&entail_task());
  tasks.push_back(&write_task());
  tasks.push_back(&parse_task());
  tasks.push_back(&classify_task());
  tasks.push_back(&look_task());
  tasks.push_back(&paint_task());
  tasks.push_back(&transcribe_task());
  tasks.push_back(&compose_task());
  tasks.push_back(&watch_task());
  return tasks;
}

}  // namespace attn::tasks
