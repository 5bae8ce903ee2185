#include "attn/tasks/training_run.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
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
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"
#include "tasks/read_members.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

/// In the order of Precision.
constexpr const char* kPrecisions[] = {"f32", "tf32", "bf16"};

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
       "Tokens of a batch, source and target with padding"},
      {"rate", &O::rate, 1e-12, kNoBound, "Largest learning rate; it falls as 1 / sqrt(step)"},
      {"warm-up", &O::warm_up, 1, kNoBound, "Steps in which the learning rate rises"},
      {"smoothing", &O::smoothing, 0, 1, "Label smoothing; none where words are copied"},
      {"coverage-loss", &O::coverage, 0, kNoBound, "Weight of the coverage loss"},
      {"self-critical", &O::self_critical, 0, 1,
       "Share of the loss given to the metric of the model's own answers, 0 to 1 (with "
       "--begin)"},
      {"clip", &O::clip, 1e-12, kNoBound, "Largest joint norm of the gradients"},
      {"decay", &O::decay, 0, kNoBound, "Weight decay of AdamW"},
      {"average", &O::average, 0, kMostAverage,
       "Decay of the weight average, which is what is saved"},
      {"evaluate-every", &O::evaluate_every, 1, kNoBound, "Steps between evaluations"},
      {"evaluate-on", &O::evaluate_on, 1, kNoBound,
       "Largest number of examples in an evaluation"},
      {"patience", &O::patience, 0, kNoBound,
       "Stop after this many evaluations without a better score; 0: never"},
      {"seed", &O::seed, 0, kNoBound, "Random seed for initial parameters, order and dropout"},
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

/// Everything of training.json; the task's own members stand beside the others.
nlohmann::json json_of(const TrainingRun& run) {
  nlohmann::json begin = nlohmann::json::array();
  for (const fs::path& folder : run.begin) begin.push_back(folder.string());
  nlohmann::json json = run.what;
  json.update({{"task", run.task},
               {"command", run.where.command},
               {"training", tasks::json_of(run.how)},
               {"begin", begin},
               {"budget",
                {{"steps", run.budget.steps},
                 {"epochs", run.budget.epochs},
                 {"minutes", run.budget.minutes}}},
               {"device", std::string(attn::name_of(run.on.device))},
               {"precision", name_of(run.on.precision)},
               {"save_every", run.where.save_every},
               {"shard_mib", run.where.shard_bytes >> 20}});
  return json;
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

void read_begin(const nlohmann::json& begin, const std::string& where, TrainingRun& run) {
  run.begin.clear();
  // Older versions of caption had one, or "" for none.
  if (begin.is_string()) {
    if (!begin.get_ref<const std::string&>().empty())
      run.begin.emplace_back(begin.get<std::string>());
    return;
  }
  if (!begin.is_array()) fail<FileError>(where, ": begin is no list of model folders");
  for (const nlohmann::json& folder : begin)
    run.begin.emplace_back(files::to_text(folder, where + ": begin"));
}

void read_budget(const std::string& key, const nlohmann::json& value, const std::string& place,
                 Budget& budget) {
  const double amount = files::to_double(value, place);
  if (amount < 0.0) fail<FileError>(place, " is ", amount, "; at least 0 is accepted");
  if (key == "minutes") budget.minutes = amount;
  if (key == "steps") budget.steps = files::to_int(value, place);
  if (key == "epochs") budget.epochs = files::to_int(value, place);
}

/// A name that must be one of a list is wrong in the file that holds it.
template <class Set>
void read_name(const nlohmann::json& object, const char* key, const std::string& where,
               const Set& set) {
  read_text(object, key, where, [&](const std::string& name) {
    try {
      set(name);
    } catch (const InvalidArgument& error) {
      fail<FileError>(where, ": ", error.what());
    }
  });
}

}  // namespace

nlohmann::json json_of(const TrainingOptions& options) {
  nlohmann::json json = nlohmann::json::object();
  for (const Option& option : options_table())
    std::visit([&](auto member) { json[option.name] = options.*member; }, option.member);
  return json;
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

std::string name_of(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}

Precision precision_named(std::string_view name) {
  const auto* at = std::find(std::begin(kPrecisions), std::end(kPrecisions), name);
  if (at == std::end(kPrecisions))
    fail("precision ", files::in_quotes(name), "; f32, tf32 and bf16 are accepted");
  return static_cast<Precision>(at - std::begin(kPrecisions));
}

Device device_named(std::string_view name) {
  for (const Device device : {Device::cpu, Device::gpu})
    if (name == attn::name_of(device)) return device;
  fail("device ", files::in_quotes(name), "; cpu and gpu are accepted");
}

std::vector<std::string> run_members(const TrainingRun& run) {
  std::vector<std::string> all;
  const nlohmann::json json = json_of(run);
  for (const auto& [member, value] : json.items()) {
    if (value.is_object()) {
      // Of nothing, all of them are unknown.
      collect_unknown(value, nullptr, member + ".", all);
    } else {
      all.push_back(member);
    }
  }
  return all;
}

std::vector<std::string> unknown_members(const nlohmann::json& object, const TrainingRun& run) {
  std::vector<std::string> unknown;
  collect_unknown(object, json_of(run), "", unknown);
  return unknown;
}

void read_run(const nlohmann::json& object, const std::string& where, TrainingRun& run) {
  if (!object.is_object())
    fail<FileError>(where, " is ", object.type_name(), "; an object is accepted");
  if (const auto unknown = unknown_members(object, run); !unknown.empty())
    fail<FileError>(where, ": there is no ", files::in_quotes(unknown.front()),
                    " in a training");
  read_text(object, "task", where, [&](const std::string& name) { run.task = name; });
  read_text(object, "command", where,
            [&](const std::string& text) { run.where.command = text; });
  read_name(object, "device", where,
            [&](const std::string& name) { run.on.device = device_named(name); });
  read_name(object, "precision", where,
            [&](const std::string& name) { run.on.precision = precision_named(name); });
  read_whole(object, "save_every", where, 0, run.where.save_every);
  auto mib = static_cast<std::int64_t>(run.where.shard_bytes >> 20);
  read_whole(object, "shard_mib", where, 0, mib);
  if (object.contains("shard_mib"))
    run.where.shard_bytes = static_cast<std::uint64_t>(mib) << 20;
  if (object.contains("begin")) read_begin(object.at("begin"), where, run);
  read_members(object, "training", where,
               [&](const std::string& key, const nlohmann::json& value) {
                 set_training_option(run.how, key, flag_text(value));
               });
  read_members(object, "budget", where,
               [&](const std::string& key, const nlohmann::json& value) {
                 read_budget(key, value, where + ": budget." + key, run.budget);
               });
  task_named(run.task).read(object, where, run.what);
}

void save_run(const TrainingRun& run) {
  make_folder(run.where.folder);
  files::write_json(run.where.folder / "training.json", json_of(run));
}

TrainingRun load_run(const fs::path& folder) {
  const fs::path path = folder / "training.json";
  const std::string where = files::path_text(path);
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    fail<FileError>(files::path_text(folder), " holds no training that could go on: ", where,
                    " is not there");
  const nlohmann::json json = files::read_json(path);
  // Runs of older versions lack members that came later; what every one of them has is asked
  // for, so that a damaged file is no other training.
  const Task& task = task_named(files::to_text(files::member(json, "task", where), where));
  files::member(json, "training", where);
  for (const std::string& key : task.required()) files::member(json, key.c_str(), where);
  TrainingRun run = task.defaults({}, nullptr);
  read_run(json, where, run);
  run.where.folder = folder;
  return run;
}

}  // namespace attn::tasks
