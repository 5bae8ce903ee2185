#include "tools/attn/training_flags.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/training_end.hpp"

namespace attn::tools {
namespace {

using tasks::Setting;
using Kind = Setting::Kind;

std::string listed(const std::vector<std::string>& names, const char* between) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : between) + name;
  return text;
}

std::string type_of(const Setting& setting) {
  if (!setting.values.empty()) return listed(setting.values, "|");
  switch (setting.kind) {
    case Kind::path:
      return "FILE";
    case Kind::name:
      return "NAME";
    case Kind::text:
    case Kind::whole:
    case Kind::real:
      break;
  }
  return "N";
}

/// A member of training.json from the text of a flag.
nlohmann::json value_of(const Setting& setting, const std::string& text) {
  switch (setting.kind) {
    case Kind::path:
      return std::filesystem::absolute(text).lexically_normal().string();
    case Kind::whole:
    case Kind::real:
      return nlohmann::json::parse(text);
    case Kind::text:
    case Kind::name:
      break;
  }
  return text;
}

/// Wrong values are wrong usage, told before any data is read. The task itself says what is
/// wrong with one.
void try_out(const tasks::Task& task, const Setting& setting, const std::string& text) {
  try {
    nlohmann::json what = task.defaults({}, nullptr).what;
    nlohmann::json asked;
    std::string path = "/" + setting.member;
    std::replace(path.begin(), path.end(), '.', '/');
    asked[nlohmann::json::json_pointer(path)] = value_of(setting, text);
    task.read(asked, "--" + setting.flag, what);
  } catch (const Error& error) {
    throw CLI::ValidationError(error.what());
  }
}

/// A flag that tasks share, and the first of them.
struct SharedFlag {
  const tasks::Task* task;
  Setting setting;
};

/// Accepts what another task accepts, too; the task that is asked says what it does not.
void widen(Setting& setting, const Setting& other) {
  if (setting.values.empty() || other.values.empty()) {
    setting.values.clear();
  } else {
    for (const std::string& value : other.values)
      if (std::find(setting.values.begin(), setting.values.end(), value) ==
          setting.values.end())
        setting.values.push_back(value);
  }
  setting.least = std::min(setting.least, other.least);
  setting.most = std::max(setting.most, other.most);
}

void add_setting_flag(CLI::App& command, const tasks::Task& task, const Setting& setting,
                      TrainingFlags& flags) {
  CLI::Option* option = command.add_option_function<std::string>(
      "--" + setting.flag,
      [&flags, &task, setting](const std::string& text) {
        if (setting.kind == Kind::text) try_out(task, setting, text);
        flags.settings[setting.flag] = text;
      },
      setting.help);
  option->group(setting.group)->type_name(type_of(setting));
  if (!setting.values.empty()) option->check(CLI::IsMember(setting.values));
  if (setting.kind == Kind::whole)
    option->check(CLI::Range(static_cast<std::int64_t>(setting.least),
                             static_cast<std::int64_t>(std::min(setting.most, 9e15))));
  if (setting.kind == Kind::real) option->check(between(setting.least, setting.most));
}

}  // namespace

void add_task_argument(CLI::App& command, std::string& task,
                       const std::vector<std::string>& others) {
  std::vector<std::string> names;
  for (const tasks::Task* known : tasks::all_tasks()) names.push_back(known->name());
  names.insert(names.end(), others.begin(), others.end());
  command.add_option("task", task, "One of " + listed(names, ", "))
      ->required()
      ->type_name("TASK")
      ->check(CLI::IsMember(names));
}

void add_threads_flag(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "Threads to use; default: all")
      ->check(CLI::Range(1, 1024));
}

void add_precision_flag(CLI::App& command, tasks::Precision& precision) {
  const std::vector<std::string> names{"f32", "tf32", "bf16"};
  command
      .add_option_function<std::string>(
          "--precision",
          [&precision](const std::string& name) { precision = tasks::precision_named(name); },
          "Precision of steps on the GPU: tf32 rounds the operands of products to 10 bits; "
          "bf16\n"
          "keeps parameters and activations in 16 bits, and masters of the parameters in f32")
      ->type_name(listed(names, "|"))
      ->check(CLI::IsMember(names));
}

void use_precision(const tasks::TrainingRun::On& on, const std::string& command) {
  if (on.precision != tasks::Precision::f32 && on.device != Device::gpu)
    fail(command, ": --precision ", tasks::name_of(on.precision),
         " is built for --device gpu; the CPU trains in f32");
  gpu::set_products(on.precision == tasks::Precision::tf32 ? gpu::Products::tf32
                                                           : gpu::Products::full);
}

void add_setting_flags(CLI::App& command, TrainingFlags& flags,
                       std::initializer_list<Setting::About> about) {
  std::vector<SharedFlag> shared;
  for (const tasks::Task* task : tasks::all_tasks())
    for (const Setting& setting : task->settings()) {
      if (std::find(about.begin(), about.end(), setting.about) == about.end()) continue;
      const auto known = std::find_if(shared.begin(), shared.end(), [&](const SharedFlag& one) {
        return one.setting.flag == setting.flag;
      });
      if (known == shared.end()) {
        shared.push_back({task, setting});
      } else {
        widen(known->setting, setting);
      }
    }
  for (const SharedFlag& one : shared) add_setting_flag(command, *one.task, one.setting, flags);
}

void add_training_flags(CLI::App& command, TrainingFlags& flags) {
  for (const tasks::TrainingFlag& flag : tasks::training_flags())
    command
        .add_option_function<std::string>(
            "--" + flag.name,
            [&flags, name = flag.name](const std::string& value) {
              try {
                tasks::TrainingOptions unused;
                tasks::set_training_option(unused, name, value);
              } catch (const Error& error) {
                throw CLI::ValidationError(error.what());
              }
              flags.training.emplace_back(name, value);
            },
            flag.help)
        ->group("Training")
        ->type_name("N");
}

void add_budget_flags(CLI::App& command, TrainingFlags& flags) {
  command.add_option("--minutes", flags.budget.minutes, "Stop after this many minutes")
      ->group("Budget")
      ->check(above(0));
  command
      .add_option("--epochs", flags.budget.epochs, "Stop after this many passes over the data")
      ->group("Budget")
      ->check(above(0));
  command.add_option("--steps", flags.budget.steps, "Stop after this many updates")
      ->group("Budget")
      ->check(above(0));
}

nlohmann::json asked_by(const TrainingFlags& flags, const tasks::Task& task,
                        const std::string& command) {
  nlohmann::json asked = nlohmann::json::object();
  const std::vector<Setting> settings = task.settings();
  for (const auto& [flag, text] : flags.settings) {
    const auto setting =
        std::find_if(settings.begin(), settings.end(),
                     [&flag = flag](const Setting& one) { return one.flag == flag; });
    if (setting == settings.end()) {
      std::vector<std::string> names;
      names.reserve(settings.size());
      for (const Setting& one : settings) names.push_back("--" + one.flag);
      fail(command, ": --", flag, " is no flag of ", task.name(),
           names.empty() ? "" : "; it has " + listed(names, ", "));
    }
    std::string path = "/" + setting->member;
    std::replace(path.begin(), path.end(), '.', '/');
    asked[nlohmann::json::json_pointer(path)] = value_of(*setting, text);
    // Another file is asked for by name: that the first one had other bytes is no matter.
    if (setting->kind == Kind::path) asked[setting->member + "_sha256"] = "";
  }
  for (const auto& [name, value] : flags.training) asked["training"][name] = value;
  if (flags.budget.steps > 0) asked["budget"]["steps"] = flags.budget.steps;
  if (flags.budget.epochs > 0) asked["budget"]["epochs"] = flags.budget.epochs;
  if (flags.budget.minutes > 0.0) asked["budget"]["minutes"] = flags.budget.minutes;
  return asked;
}

tasks::TrainingRun resolved(const tasks::Task& task, const nlohmann::json& asked,
                            const std::string& where, const tasks::Corpus* corpus) {
  tasks::TrainingRun run = task.defaults(asked, corpus);
  tasks::read_run(asked, where, run);
  return run;
}

std::string flags_text(const TrainingFlags& flags, const tasks::Task& task) {
  std::string text;
  const auto add = [&](const std::string& flag, const std::string& value) {
    text += " --" + flag + " " + shell_word(value);
  };
  const auto file_name = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  for (const std::string& begin : flags.begin) add("begin", file_name(begin));
  for (const Setting& setting : task.settings())
    if (const auto given = flags.settings.find(setting.flag); given != flags.settings.end())
      add(setting.flag, setting.kind == Kind::path ? file_name(given->second) : given->second);
  for (const auto& [name, value] : flags.training) add(name, value);
  if (flags.device == Device::gpu) add("device", "gpu");
  if (flags.precision != tasks::Precision::f32)
    add("precision", tasks::name_of(flags.precision));
  return text + budget_text(flags.budget);
}

}  // namespace attn::tools
