#include "tasks/pairs/pair_settings.hpp"

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/pairs/read_pairs.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/translate/load_translate.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/read_members.hpp"

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
}

}  // namespace

std::string name_of(text::Units units) {
  switch (units) {
    case text::Units::characters:
      return "characters";
    case text::Units::words:
      return "words";
    case text::Units::subwords:
      break;
  }
  return "subwords";
}

text::Units units_named(std::string_view name) {
  for (const auto units : {text::Units::characters, text::Units::words, text::Units::subwords})
    if (name == name_of(units)) return units;
  fail("units are characters, words or subwords, not ", files::in_quotes(name));
}

nlohmann::json json_of(const PairSettings& settings) {
  return {{"language", settings.language},
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

void read_settings(const nlohmann::json& object, const std::string& where,
                   PairSettings& settings) {
  const auto into = [&](const char* key, std::string& value) {
    read_text(object, key, where, [&](const std::string& text) { value = text; });
  };
  into("language", settings.language);
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

PairSettings pair_settings(const nlohmann::json& what) {
  PairSettings settings;
  read_settings(what, "the settings", settings);
  return settings;
}

std::vector<Setting> pair_flags() {
  using About = Setting::About;
  using Kind = Setting::Kind;
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
       "Target language of translate: it, da, fr, de or es", Kind::name,
       translate_languages()}};
  for (const char* side : {"source", "target"})
    flags.push_back({std::string(side) + "-units",
                     std::string(side) + "_units",
                     About::tokens,
                     "Data",
                     "Kind of token",
                     Kind::name,
                     {"characters", "words", "subwords"}});
  flags.push_back({"vocabulary",
                   "vocabulary",
                   About::tokens,
                   "Data",
                   "Size of the subword vocabulary",
                   Kind::whole,
                   {},
                   300,
                   64000});
  flags.push_back(
      {"source-tokens",
       "limits.source",
       About::tokens,
       "Data",
       "Longest source in tokens; summarise cuts longer ones, other tasks leave out\n"
       "longer pairs",
       Kind::whole,
       {},
       1,
       65536});
  flags.push_back({"target-tokens",
                   "limits.target",
                   About::tokens,
                   "Data",
                   "Longest target in training, and longest answer, in tokens",
                   Kind::whole,
                   {},
                   1,
                   65536});
  for (const ModelFlag& flag : kModelFlags)
    flags.push_back({flag.flag, std::string("model.") + flag.option, About::model, "Model",
                     flag.help, Kind::text, models::option_values(flag.option)});
  return flags;
}

Corpus load_corpus(const PairTask& task, const PairSettings& settings, const Say& say) {
  Corpus corpus = settings.data.empty() ? task.load(settings.language, say)
                                        : read_pairs(settings.data,
                                                     {.source_column = settings.source_column,
                                                      .target_column = settings.target_column},
                                                     say);
  prepare_texts(task, corpus.train);
  prepare_texts(task, corpus.development);
  prepare_texts(task, corpus.test);
  return corpus;
}

void read_data_of(const fs::path& folder, const PairModel& model, bool named,
                  PairSettings& settings) {
  std::error_code ignored;
  if (!fs::exists(folder / "training.json", ignored)) {
    if (!named) read_card(folder, model, settings);
    return;
  }
  const PairSettings saved = pair_settings(load_run(folder).what);
  settings.language = saved.language;
  settings.data = saved.data;
  settings.data_checksum = saved.data_checksum;
  settings.source_column = saved.source_column;
  settings.target_column = saved.target_column;
}

}  // namespace attn::tasks
