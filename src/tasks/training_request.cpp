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
#include "attn/tasks/prepare.hpp"
#include "attn/tasks/task.hpp"
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

TrainingOptions training_of(const nlohmann::json& json, const std::string& where) {
  TrainingOptions options;
  for (const Option& option : options_table()) {
    // A run of an older version has not heard of it, and goes on without.
    if (std::string_view(option.name) == "self-critical" && !json.contains(option.name))
      continue;
    const nlohmann::json& value = files::member(json, option.name, where);
    if (!value.is_number()) fail<FileError>(where, ": ", option.name, " is no number");
    set_training_option(options, option.name, value.dump());
  }
  return options;
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

TrainingRequest default_request(const Task& task) {
  return {.task = task.name,
          .language = "it",
          .data = {},
          .tokens = task.tokens,
          .model = task.model,
          .training = task.training,
          .limits = task.limits,
          .command = {},
          .begin = {}};
}

void save_request(const fs::path& folder, const TrainingRequest& request) {
  const std::string where = "training.json";
  files::write_json(
      folder / where,
      {{"task", request.task},
       {"command", request.command},
       {"language", request.language},
       {"data", request.data.string()},
       {"source_units", name_of(request.tokens.source)},
       {"target_units", name_of(request.tokens.target)},
       {"vocabulary", request.tokens.size},
       {"shared_vocabulary", request.tokens.shared},
       {"limits", {{"source", request.limits.source}, {"target", request.limits.target}}},
       {"model", files::parse_json(models::to_json(request.model), where)},
       {"training", json_of(request.training)}});
}

TrainingRequest load_request(const fs::path& folder) {
  const fs::path path = folder / "training.json";
  const std::string where = files::path_text(path);
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    fail<FileError>(files::path_text(folder), " holds no training that could go on: ", where,
                    " is not there");
  const nlohmann::json json = files::read_json(path);
  const auto text = [&](const char* key) {
    return files::to_text(files::member(json, key, where), where);
  };
  const nlohmann::json& limits = files::member(json, "limits", where);
  return {.task = text("task"),
          .language = text("language"),
          .data = text("data"),
          .tokens = {.source = units_named(text("source_units")),
                     .target = units_named(text("target_units")),
                     .size = files::to_int(files::member(json, "vocabulary", where), where),
                     .shared = files::to_bool(files::member(json, "shared_vocabulary", where),
                                              where)},
          .model = models::from_json(files::member(json, "model", where).dump(), where),
          .training = training_of(files::member(json, "training", where), where),
          .limits = {files::to_int(files::member(limits, "source", where), where),
                     files::to_int(files::member(limits, "target", where), where)},
          .command = text("command"),
          .begin = {}};
}

}  // namespace attn::tasks
