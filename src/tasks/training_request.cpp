#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/prepare.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

using Member = std::variant<std::int64_t TrainingOptions::*, double TrainingOptions::*,
                            std::uint64_t TrainingOptions::*>;

constexpr double kNoBound = std::numeric_limits<double>::infinity();

struct Option {
  const char* name;
  Member member;
  double least;
  double most;  ///< or kNoBound: any that is finite
  const char* help;
};

/// With 1 the average would stay what the first weights were.
constexpr double kMostAverage = 0.999999;

/// The one list of them: flags, training.json and checkpoints read it.
const std::vector<Option>& options_table() {
  using O = TrainingOptions;
  static const std::vector<Option> kTable{
      {"batch-tokens", &O::batch_tokens, 1, kNoBound,
       "Tokens of a step, both sides with padding"},
      {"rate", &O::rate, 1e-12, kNoBound, "Largest learning rate; falls as 1 / sqrt(step)"},
      {"warm-up", &O::warm_up, 1, kNoBound, "Steps in which the rate rises"},
      {"smoothing", &O::smoothing, 0, 1, "Of the targets; none where words are copied"},
      {"coverage-loss", &O::coverage, 0, kNoBound, "Weight of the coverage loss"},
      {"self-critical", &O::self_critical, 0, 1,
       "Share of the loss that is the metric of the model's own answers, 0 to 1 (with "
       "--begin)"},
      {"clip", &O::clip, 1e-12, kNoBound, "Largest joint norm of the gradients"},
      {"decay", &O::decay, 0, kNoBound, "Of the weights, as AdamW takes it"},
      {"average", &O::average, 0, kMostAverage,
       "Decay of the averaged weights, which are what is kept"},
      {"evaluate-every", &O::evaluate_every, 1, kNoBound, "Steps between evaluations"},
      {"evaluate-on", &O::evaluate_on, 1, kNoBound, "Examples of an evaluation, at most"},
      {"patience", &O::patience, 0, kNoBound,
       "Evaluations without a better score; 0: never stop"},
      {"seed", &O::seed, 0, kNoBound, "Of first weights, order and dropout"},
  };
  return kTable;
}

const Option& option_named(std::string_view name) {
  for (const Option& option : options_table())
    if (name == option.name) return option;
  fail("there is no training option '", files::printable(name), "'");
}

bool is_accepted(double value, const Option& option) {
  return std::isfinite(value) && value >= option.least && value <= option.most;
}

template <class T>
T number_of(std::string_view text, const Option& option) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() &&
      is_accepted(static_cast<double>(value), option))
    return value;
  const char* kind = std::is_integral_v<T> ? " takes a whole number" : " takes a number";
  if (option.most == kNoBound)
    fail("--", option.name, kind, " of at least ", option.least, ", not ",
         files::in_quotes(text));
  fail("--", option.name, kind, " from ", option.least, " to ", option.most, ", not ",
       files::in_quotes(text));
}

nlohmann::json json_of(const TrainingOptions& options) {
  nlohmann::json json = nlohmann::json::object();
  for (const Option& option : options_table())
    std::visit([&](auto member) { json[option.name] = options.*member; }, option.member);
  return json;
}

nlohmann::json json_of(const TrainingRequest& request) {
  nlohmann::json begin = nlohmann::json::array();
  for (const fs::path& folder : request.begin) begin.push_back(folder.string());
  return {{"task", request.task},
          {"command", request.command},
          {"language", request.language},
          {"data", request.data.string()},
          {"data_sha256", request.data_checksum},
          {"source_column", request.source_column},
          {"target_column", request.target_column},
          {"source_units", name_of(request.tokens.source)},
          {"target_units", name_of(request.tokens.target)},
          {"vocabulary", request.tokens.size},
          {"shared_vocabulary", request.tokens.shared},
          {"limits", {{"source", request.limits.source}, {"target", request.limits.target}}},
          {"model", files::parse_json(models::to_json(request.model), "model")},
          {"training", json_of(request.training)},
          {"begin", begin},
          {"budget",
           {{"steps", request.budget.steps},
            {"epochs", request.budget.epochs},
            {"minutes", request.budget.minutes}}},
          {"device", request.device},
          {"precision", request.precision},
          {"save_every", request.save_every},
          {"shard_mib", request.shard_mib}};
}

/// Paths of the members that are in one object and not in the other.
void collect_unknown(const nlohmann::json& object, const nlohmann::json& known,
                     const std::string& prefix, std::vector<std::string>& unknown) {
  for (const auto& [key, value] : object.items()) {
    if (!known.is_object() || !known.contains(key)) {
      unknown.push_back(prefix + key);
    } else if (value.is_object()) {
      collect_unknown(value, known.at(key), prefix + key + ".", unknown);
    }
  }
}

/// The text a flag would have: 0.5, transformer.
std::string flag_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// An object's members, each of which is set as a flag of its name would.
template <class Set>
void for_members(const nlohmann::json& object, const char* name, const std::string& where,
                 const Set& set) {
  if (!object.contains(name)) return;
  const nlohmann::json& inner = object.at(name);
  if (!inner.is_object())
    fail<FileError>(where, ": ", name, " is ", inner.type_name(), "; an object is accepted");
  for (const auto& [key, value] : inner.items()) {
    try {
      set(key, value);
    } catch (const FileError&) {
      throw;
    } catch (const InvalidArgument& error) {
      fail<FileError>(where, ": ", name, ".", files::printable(key), ": ", error.what());
    }
  }
}

}  // namespace

std::string to_json(const TrainingOptions& options) {
  return json_of(options).dump();
}

void set_training_option(TrainingOptions& options, std::string_view name,
                         std::string_view value) {
  const Option& option = option_named(name);
  std::visit(
      [&]<class T>(T TrainingOptions::* member) {
        options.*member = number_of<T>(value, option);
      },
      option.member);
}

const std::vector<TrainingFlag>& training_flags() {
  static const std::vector<TrainingFlag> kFlags = [] {
    std::vector<TrainingFlag> flags;
    flags.reserve(options_table().size());
    for (const Option& option : options_table()) flags.push_back({option.name, option.help});
    return flags;
  }();
  return kFlags;
}

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

TrainingRequest default_request(const PairTask& task) {
  return {.task = task.card.name,
          .language = "it",
          .data = {},
          .data_checksum = {},
          .tokens = task.tokens,
          .model = task.model,
          .training = task.training,
          .limits = task.limits,
          .command = {},
          .begin = {},
          .budget = {}};
}

void suit_corpus(TrainingRequest& request, const Corpus& corpus) {
  PairTask task = pair_task_named(request.task);
  if (!task.suit) return;
  task.suit(task, corpus);
  request.tokens = task.tokens;
  request.model = task.model;
  request.training = task.training;
  request.limits = task.limits;
}

std::vector<std::string> request_members() {
  std::vector<std::string> members;
  // Of nothing, all of them are unknown.
  collect_unknown(json_of(TrainingRequest{}), nullptr, "", members);
  std::vector<std::string> all;
  const nlohmann::json json = json_of(TrainingRequest{});
  for (const std::string& member : members) {
    if (!json.at(member).is_object()) {
      all.push_back(member);
      continue;
    }
    collect_unknown(json.at(member), nullptr, member + ".", all);
  }
  return all;
}

std::vector<std::string> unknown_members(const nlohmann::json& object) {
  std::vector<std::string> unknown;
  collect_unknown(object, json_of(TrainingRequest{}), "", unknown);
  return unknown;
}

void read_request(const nlohmann::json& object, const std::string& where,
                  TrainingRequest& request) {
  if (!object.is_object())
    fail<FileError>(where, " is ", object.type_name(), "; an object is accepted");
  if (const auto unknown = unknown_members(object); !unknown.empty())
    fail<FileError>(where, ": there is no ", files::in_quotes(unknown.front()),
                    " in a training");
  const auto text = [&](const char* key, auto set) {
    if (object.contains(key)) set(files::to_text(object.at(key), where + ": " + key));
  };
  const auto whole = [&](const char* key, std::int64_t least, std::int64_t& value) {
    if (!object.contains(key)) return;
    value = files::to_int(object.at(key), where + ": " + key);
    if (value < least)
      fail<FileError>(where, ": ", key, " is ", value, "; at least ", least, " is accepted");
  };
  const auto into = [](std::string& value) {
    return [&value](const std::string& found) { value = found; };
  };
  text("task", into(request.task));
  text("command", into(request.command));
  text("language", into(request.language));
  text("data", [&](const std::string& path) { request.data = path; });
  text("data_sha256", into(request.data_checksum));
  text("source_column", into(request.source_column));
  text("target_column", into(request.target_column));
  text("source_units",
       [&](const std::string& name) { request.tokens.source = units_named(name); });
  text("target_units",
       [&](const std::string& name) { request.tokens.target = units_named(name); });
  text("device", into(request.device));
  text("precision", into(request.precision));
  whole("vocabulary", 1, request.tokens.size);
  whole("save_every", 0, request.save_every);
  whole("shard_mib", 0, request.shard_mib);
  if (object.contains("shared_vocabulary"))
    request.tokens.shared = files::to_bool(object.at("shared_vocabulary"), where);
  if (object.contains("begin")) {
    request.begin.clear();
    if (!object.at("begin").is_array())
      fail<FileError>(where, ": begin is no list of model folders");
    for (const nlohmann::json& folder : object.at("begin"))
      request.begin.emplace_back(files::to_text(folder, where + ": begin"));
  }
  for_members(object, "limits", where,
              [&](const std::string& key, const nlohmann::json& value) {
                (key == "source" ? request.limits.source : request.limits.target) =
                    files::to_int(value, where + ": limits." + key);
              });
  for_members(object, "model", where, [&](const std::string& key, const nlohmann::json& value) {
    models::set_option(request.model, key, flag_text(value));
  });
  for_members(object, "training", where,
              [&](const std::string& key, const nlohmann::json& value) {
                set_training_option(request.training, key, flag_text(value));
              });
  for_members(object, "budget", where,
              [&](const std::string& key, const nlohmann::json& value) {
                const std::string place = where + ": budget." + key;
                const double amount = files::to_double(value, place);
                if (amount < 0.0)
                  fail<FileError>(place, " is ", amount, "; at least 0 is accepted");
                if (key == "minutes") request.budget.minutes = amount;
                if (key == "steps") request.budget.steps = files::to_int(value, place);
                if (key == "epochs") request.budget.epochs = files::to_int(value, place);
              });
}

void save_request(const fs::path& folder, const TrainingRequest& request) {
  files::write_json(folder / "training.json", json_of(request));
}

TrainingRequest load_request(const fs::path& folder) {
  const fs::path path = folder / "training.json";
  const std::string where = files::path_text(path);
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    fail<FileError>(files::path_text(folder), " holds no training that could go on: ", where,
                    " is not there");
  const nlohmann::json json = files::read_json(path);
  // Runs of older versions lack members that came later; what every one of them has is asked
  // for, so that a damaged file is no other training.
  for (const char* key : {"task", "data", "model", "training", "limits"})
    files::member(json, key, where);
  const std::string& task = files::to_text(files::member(json, "task", where), where);
  if (task == "caption") fail(files::path_text(folder), " is a training of caption");
  TrainingRequest request = default_request(pair_task_named(task));
  read_request(json, where, request);
  return request;
}

}  // namespace attn::tasks
