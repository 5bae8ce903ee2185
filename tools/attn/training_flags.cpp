#include "tools/attn/training_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/prepare.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/checks.hpp"

namespace attn::tools {
namespace {

struct ModelFlag {
  const char* flag;
  const char* option;  ///< its name in ModelOptions
  const char* help;
};

constexpr ModelFlag kModelFlags[] = {
    {"--model", "kind", "What kind of model"},
    {"--score", "score", "How luong scores"},
    {"--reach", "reach", "Where luong may look"},
    {"--feeding", "feeding", "Whether luong reads what it attended to"},
    {"--positions", "positions", "How the transformer tells places apart"},
    {"--copy", "copy", "Whether words are copied from the source"},
    {"--tie", "tie", "Which tables are one"},
    {"--dim", "dim", "Size of embeddings and states"},
    {"--encoder-layers", "encoder_layers", "Layers that read"},
    {"--decoder-layers", "decoder_layers", "Layers that write"},
    {"--heads", "heads", "Heads of the transformer"},
    {"--feed-forward", "feed_forward", "Hidden size of the transformer's layers"},
    {"--kernel", "kernel", "Width of a convolution"},
    {"--window", "window", "Reach of local attention on either side"},
    {"--dropout", "dropout", "Share of features dropped while training"},
    {"--word-dropout", "word_dropout", "Share of words not seen while training"},
};

/// In the order of Precision.
constexpr const char* kPrecisions[] = {"f32", "tf32", "bf16"};

using Values = std::vector<std::pair<std::string, std::string>>;

/// Throws where an option does not take a value.
using TryOut = void (*)(const std::string& name, const std::string& value);

/// A flag whose value is kept as text under `name`. What `try_out` refuses is wrong usage, told
/// before any data is read.
CLI::Option* keep(CLI::App& command, const std::string& flag, const std::string& name,
                  const std::string& help, Values& values, TryOut try_out) {
  return command.add_option_function<std::string>(
      flag,
      [&values, name, try_out](const std::string& value) {
        try {
          try_out(name, value);
        } catch (const Error& error) {
          throw CLI::ValidationError(error.what());
        }
        values.emplace_back(name, value);
      },
      help);
}

void try_model_option(const std::string& name, const std::string& value) {
  models::ModelOptions unused;
  models::set_option(unused, name, value);
}

void try_training_option(const std::string& name, const std::string& value) {
  tasks::TrainingOptions unused;
  tasks::set_training_option(unused, name, value);
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "|") + name;
  return text;
}

}  // namespace

void add_task_argument(CLI::App& command, std::string& task,
                       const std::vector<std::string>& more) {
  std::vector<std::string> names = more;
  for (const tasks::PairTask& known : tasks::all_pair_tasks()) names.push_back(known.card.name);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  command.add_option("task", task, "One of " + list)
      ->required()
      ->type_name("TASK")
      ->check(CLI::IsMember(names));
}

void add_threads_flag(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "Threads to use; default: all")
      ->check(CLI::Range(1, 1024));
}

std::string name_of(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}

Device device_named(const std::string& name) {
  if (name == attn::name_of(Device::gpu)) return Device::gpu;
  if (name != attn::name_of(Device::cpu)) fail("device '", name, "'; cpu and gpu are accepted");
  return Device::cpu;
}

Precision precision_named(const std::string& name) {
  const auto* found = std::find(std::begin(kPrecisions), std::end(kPrecisions), name);
  if (found == std::end(kPrecisions))
    fail("precision '", name, "'; f32, tf32 and bf16 are accepted");
  return static_cast<Precision>(found - std::begin(kPrecisions));
}

void add_precision_flag(CLI::App& command, Precision& precision) {
  const std::vector<std::string> names(std::begin(kPrecisions), std::end(kPrecisions));
  command
      .add_option_function<std::string>(
          "--precision",
          [&precision, names](const std::string& name) {
            const auto found = std::find(names.begin(), names.end(), name);
            precision = static_cast<Precision>(found - names.begin());
          },
          "Of steps on the GPU: tf32 rounds the operands of products to 10 bits; bf16 keeps\n"
          "parameters and activations in 16 bits, and masters of the parameters in f32")
      ->type_name(listed(names))
      ->check(CLI::IsMember(names));
}

std::string device_text(const TrainingFlags& flags) {
  std::string text;
  if (flags.device == Device::gpu) text += " --device gpu";
  if (flags.precision != Precision::f32) text += " --precision " + name_of(flags.precision);
  return text;
}

void use_precision(const TrainingFlags& flags, const std::string& command) {
  if (flags.precision != Precision::f32 && flags.device != Device::gpu)
    fail(command, ": --precision ", name_of(flags.precision),
         " is built for --device gpu; the CPU trains in f32");
  gpu::set_products(flags.precision == Precision::tf32 ? gpu::Products::tf32
                                                       : gpu::Products::full);
}

DType steps_in(Precision precision) {
  return precision == Precision::bf16 ? DType::bf16 : DType::f32;
}

void add_model_flags(CLI::App& command, TrainingFlags& flags) {
  for (const ModelFlag& flag : kModelFlags) {
    CLI::Option* option =
        keep(command, flag.flag, flag.option, flag.help, flags.model, try_model_option);
    option->group("Model");
    const std::vector<std::string> names = models::option_values(flag.option);
    if (names.empty()) {
      option->type_name("N");
    } else {
      option->type_name(listed(names))->check([names](const std::string& value) {
        for (const std::string& name : names)
          if (name == value) return std::string();
        return "'" + value + "' is none of " + listed(names);
      });
    }
  }
}

void add_training_flags(CLI::App& command, TrainingFlags& flags) {
  for (const tasks::TrainingFlag& flag : tasks::training_flags())
    keep(command, "--" + flag.name, flag.name, flag.help, flags.training, try_training_option)
        ->group("Training")
        ->type_name("N");
}

void add_budget_flags(CLI::App& command, TrainingFlags& flags) {
  command.add_option("--minutes", flags.budget.minutes, "End after so many, from now")
      ->group("Budget")
      ->check(above(0));
  command.add_option("--epochs", flags.budget.epochs, "End after so many over the data")
      ->group("Budget")
      ->check(above(0));
  command.add_option("--steps", flags.budget.steps, "End after so many updates")
      ->group("Budget")
      ->check(above(0));
}

void add_data_flags(CLI::App& command, TrainingFlags& flags) {
  command
      .add_option("--data", flags.data,
                  "Pairs of your own: source, tab, target (and further right targets); a .csv "
                  "file has\n"
                  "a header, a .jsonl file an object a line")
      ->group("Data")
      ->type_name("FILE");
  for (auto [flag, value] : {std::pair{"--source-column", &flags.source_column},
                             std::pair{"--target-column", &flags.target_column}})
    command
        .add_option(flag, *value,
                    "Of a .csv or .jsonl file: its name, or number; default: " +
                        std::string(value == &flags.source_column ? "source" : "target"))
        ->group("Data")
        ->type_name("NAME");
  command.add_option("--language", flags.language, "Of translate: it, da, fr, de or es")
      ->group("Data")
      ->check(CLI::IsMember({"it", "da", "fr", "de", "es"}));
}

void add_token_flags(CLI::App& command, TrainingFlags& flags) {
  for (auto [flag, value] : {std::pair{"--source-units", &flags.source_units},
                             std::pair{"--target-units", &flags.target_units}})
    command.add_option(flag, *value, "What one token is")
        ->group("Data")
        ->type_name("characters|words|subwords")
        ->check(CLI::IsMember({"characters", "words", "subwords"}));
  command.add_option("--vocabulary", flags.vocabulary, "Subwords to learn")
      ->group("Data")
      ->check(CLI::Range(300L, 64000L));
  command
      .add_option("--source-tokens", flags.source_tokens,
                  "Longest source; summarise reads the first so many, other tasks leave out\n"
                  "pairs that are longer")
      ->group("Data")
      ->check(CLI::Range(1L, 65536L));
  command
      .add_option("--target-tokens", flags.target_tokens,
                  "Longest target that is learnt from, and longest answer")
      ->group("Data")
      ->check(CLI::Range(1L, 65536L));
}

void apply(const TrainingFlags& flags, tasks::TrainingRequest& request) {
  for (const auto& [name, value] : flags.model) models::set_option(request.model, name, value);
  for (const auto& [name, value] : flags.training)
    tasks::set_training_option(request.training, name, value);
  if (!flags.language.empty()) request.language = flags.language;
  if (!flags.data.empty())
    request.data = std::filesystem::absolute(flags.data).lexically_normal();
  if (!flags.source_column.empty()) request.source_column = flags.source_column;
  if (!flags.target_column.empty()) request.target_column = flags.target_column;
  if (!flags.source_units.empty())
    request.tokens.source = tasks::units_named(flags.source_units);
  if (!flags.target_units.empty())
    request.tokens.target = tasks::units_named(flags.target_units);
  // Unlike units cannot share a vocabulary, nor then a table.
  if (request.tokens.source != request.tokens.target) {
    request.tokens.shared = false;
    if (request.model.tie == models::Tie::all) request.model.tie = models::Tie::output;
  }
  if (flags.vocabulary > 0) request.tokens.size = flags.vocabulary;
  if (flags.source_tokens > 0) request.limits.source = flags.source_tokens;
  if (flags.target_tokens > 0) request.limits.target = flags.target_tokens;
}

}  // namespace attn::tools
