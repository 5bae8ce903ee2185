// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/prepare.hpp"
#include "attn/tasks/trainer.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/caption_training.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/interrupt.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/subwords.hpp"
#include "tools/attn/training_config.hpp"
#include "tools/attn/training_data.hpp"
#include "tools/attn/training_end.hpp"
#include "tools/attn/training_flags.hpp"
#include "tools/attn/training_picture.hpp"
#include "tools/attn/training_progress.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  std::string task;
  std::string out;
  bool resume = false;
  int threads = 0;
  std::int64_t save_every = 0;
  std::uint64_t shard_mib = 0;
  TrainingFlags flags;
  CaptionFlags caption;
  std::string map;
  std::string config_file;
  nlohmann::json config = nlohmann::json::object();  ///< what that file holds
  bool device_given = false;
  bool precision_given = false;
};

/// The part of the command that is worth keeping in the card of the model.
std::string command_text(const TrainOptions& options) {
  std::string text = "attn train " + options.task;
  const auto add = [&](const std::string& flag, const std::string& value) {
    text += " --" + flag + " " + value;
  };
  const TrainingFlags& flags = options.flags;
  if (!options.config_file.empty())
    add("config", fs::path(options.config_file).filename().string());
  if (!flags.data.empty()) add("data", fs::path(flags.data).filename().string());
  if (!flags.source_column.empty()) add("source-column", shell_word(flags.source_column));
  if (!flags.target_column.empty()) add("target-column", shell_word(flags.target_column));
  for (const std::string& begin : flags.begin)
    add("begin", fs::path(begin).filename().string());
  if (!flags.language.empty()) add("language", flags.language);
  if (!flags.source_units.empty()) add("source-units", flags.source_units);
  if (!flags.target_units.empty()) add("target-units", flags.target_units);
  if (flags.vocabulary > 0) add("vocabulary", std::to_string(flags.vocabulary));
  if (flags.source_tokens > 0) add("source-tokens", std::to_string(flags.source_tokens));
  if (flags.target_tokens > 0) add("target-tokens", std::to_string(flags.target_tokens));
  for (const auto& [name, value] : flags.model) {
    std::string flag = name == "kind" ? "model" : name;
    for (char& c : flag) c = c == '_' ? '-' : c;
    add(flag, value);
  }
  for (const auto& [name, value] : flags.training) add(name, value);
  return text + device_text(flags) + budget_text(flags.budget);
}

/// Folders of the models to begin with: those of the flags, else those of the config.
std::vector<fs::path> beginnings(const TrainOptions& options) {
  std::vector<fs::path> folders;
  folders.reserve(options.flags.begin.size());
  for (const std::string& begin : options.flags.begin)
    folders.push_back(fs::absolute(model_folder(begin, options.task)).lexically_normal());
  if (folders.empty() && options.config.contains("begin"))
    for (const nlohmann::json& folder : options.config["begin"])
      folders.emplace_back(folder.get<std::string>());
  return folders;
}

/// Sets what was asked for on top of the task's own: a model to begin with, then the config,
/// then the flags, which win.
void ask(const TrainOptions& options, tasks::TrainingRequest& request) {
  const std::vector<fs::path> begin = beginnings(options);
  if (!begin.empty()) tasks::begin_with_models(request, begin);
  tasks::read_request(options.config, files::path_text(options.config_file), request);
  request.begin = begin;
  apply(options.flags, request);
  // Another file is asked for by name: that the first one had other bytes is no matter.
  if (!options.flags.data.empty()) request.data_checksum.clear();
  const tasks::Budget& budget = options.flags.budget;
  if (budget.steps > 0) request.budget.steps = budget.steps;
  if (budget.epochs > 0) request.budget.epochs = budget.epochs;
  if (budget.minutes > 0.0) request.budget.minutes = budget.minutes;
  request.device = name_of(options.flags.device);
  request.precision = name_of(options.flags.precision);
  request.save_every = options.save_every;
  request.shard_mib = static_cast<std::int64_t>(options.shard_mib);
  request.command = command_text(options);
}

/// What the config says of how to run, where no flag does.
void take_config(TrainOptions& options) {
  if (options.config_file.empty()) return;
  options.config = read_config(options.config_file, options.task);
  tasks::TrainingRequest request = tasks::default_request(tasks::pair_task_named(options.task));
  tasks::read_request(options.config, files::path_text(options.config_file), request);
  if (!options.device_given) options.flags.device = device_named(request.device);
  if (!options.precision_given) options.flags.precision = precision_named(request.precision);
  if (options.save_every == 0) options.save_every = request.save_every;
  if (options.shard_mib == 0) options.shard_mib = static_cast<std::uint64_t>(request.shard_mib);
}

/// A training that goes on: what it was asked when it began, but for where its file is now.
tasks::TrainingRequest saved_request(const TrainOptions& options) {
  const fs::path folder = options.out;
  tasks::TrainingRequest request = tasks::load_request(folder);
  if (request.task != options.task)
    fail(files::path_text(folder), " is a training of ", request.task, ", not of ",
         options.task);
  apply(options.flags, request);
  std::error_code ignored;
  if (!request.data.empty() && !fs::exists(request.data, ignored))
    fail<FileError>("the training in ", files::path_text(folder), " learns from ",
                    files::path_text(request.data),
                    ", which is not there; name where it is now with --data FILE");
  return request;
}

tasks::TrainingRequest request_of(const TrainOptions& options) {
  check_training_folder(options.out, options.resume ? tasks::Resume::yes : tasks::Resume::no);
  if (options.resume) return saved_request(options);
  if (!options.flags.begin.empty() &&
      (options.flags.vocabulary > 0 || !options.flags.source_units.empty() ||
       !options.flags.target_units.empty()))
    fail("attn train: with --begin the vocabularies are those of that model; leave out ",
         "--vocabulary, --source-units and --target-units");
  tasks::TrainingRequest request = tasks::default_request(tasks::pair_task_named(options.task));
  ask(options, request);
  return request;
}

/// The examples. A task whose defaults follow from them is asked again.
tasks::Corpus load_data(const TrainOptions& options, tasks::TrainingRequest& request,
                        const tasks::Say& say) {
  tasks::Corpus corpus = tasks::load_corpus(request, say);
  for (const std::string& note : corpus.notes) say(note);
  check_same_data(request, corpus,
                  options.resume
                      ? "Give the file as it was, or learn from this one anew, beginning with "
                        "what was learnt: attn train " +
                            options.task + " --begin " + shell_word(options.out) +
                            " --data FILE --out NEW"
                      : "Give --data FILE to learn from it all the same");
  if (!options.resume && request.begin.empty()) {
    tasks::suit_corpus(request, corpus);
    ask(options, request);
  }
  request.data_checksum = corpus.checksum;
  return corpus;
}

void tell_beginning(const tasks::Prepared& prepared, const Streams& streams) {
  fmt::print(
      streams.err,
      "attn: {} pairs to learn from{}, {} development; {} {} in, {} {} out; {} with "
      "{:.2f} million parameters\n",
      prepared.plan.train.size(),
      prepared.dropped > 0
          ? fmt::format(" ({} too long or empty were left out)", prepared.dropped)
          : "",
      prepared.plan.development.size(), prepared.model.source.size(),
      tasks::name_of(prepared.model.source.units()), prepared.model.target.size(),
      tasks::name_of(prepared.model.target.units()),
      models::option_values("kind").at(static_cast<std::size_t>(prepared.model.options.kind)),
      static_cast<double>(prepared.model.model->parameter_count()) / 1e6);
}

/// What is wrong with the sizes of a model together, before its data are read; "": nothing.
std::string misfit(models::ModelOptions options) {
  constexpr std::int64_t kAny = 100;  // the data tell how many there are
  options.source_vocabulary = kAny;
  options.target_vocabulary = kAny;
  options.max_source = kAny;
  try {
    models::validate(options);
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();  // "attn::models::validate: dim 63 and ..."
    return text.substr(text.find(": ") + 2);
  }
  return "";
}

int train(TrainOptions options, const Streams& streams) {
  if (options.task == "caption" && !options.config_file.empty())
    fail("attn train caption: --config is of tasks that learn from pairs; give flags");
  take_config(options);
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  check_device(options.flags.device, "attn train");
  use_precision(options.flags, "attn train");
  if (options.task == "caption")
    return train_caption({.out = options.out,
                          .resume = options.resume,
                          .save_every = options.save_every,
                          .shard_bytes = options.shard_mib << 20,
                          .flags = options.flags,
                          .caption = options.caption,
                          .map = options.map},
                         streams);
  if (options.caption.given())
    fail("attn train: the group Caption of the flags is of the task caption, not of ",
         options.task);
  tasks::TrainingRequest request = request_of(options);
  if (const std::string problem = misfit(request.model); !problem.empty()) {
    fmt::print(streams.err, "attn train: {}\nRun with --help for more information.\n", problem);
    return usage;
  }
  const tasks::Say say = progress(streams);
  const tasks::Corpus corpus = load_data(options, request, say);
  const auto resume = options.resume ? tasks::Resume::yes : tasks::Resume::no;
  tasks::Prepared prepared =
      tasks::prepare(request, corpus, options.out, resume, learn_subwords, say);
  TrainingPicture picture(options.map, options.out, streams);
  if (!options.resume) tasks::write_vocabularies(options.out, prepared.model);
  tasks::save_request(options.out, request);
  // Who reads the line below may interrupt from then on.
  const Interrupt interrupt;
  tell_beginning(prepared, streams);
  // A budget of the past does not bound what goes on.
  prepared.plan.budget = options.resume ? options.flags.budget : request.budget;
  prepared.plan.command = request.command;
  prepared.plan.save_every = options.save_every;
  prepared.plan.shard_bytes = options.shard_mib << 20;
  prepared.plan.device = options.flags.device;
  prepared.plan.precision = steps_in(options.flags.precision);

  TrainingProgress line(streams);
  const tasks::Trained trained = tasks::train(prepared.model, prepared.plan,
                                              {.progress =
                                                   [&](const tasks::Progress& now) {
                                                     line(now);
                                                     picture(now);
                                                   },
                                               .stop = [&] { return interrupt.asked(); }});
  line.end();
  picture.end();
  // The model knows its data by itself.
  tell_end_of_training(options.task, options.out, "", trained, streams);
  return success;
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Train a model for a task, or on your pairs");
  command->footer(
      "\nThe task brings its data (fetched once, by package name), its tokens, its model and "
      "its\n"
      "metric; every flag changes one of them. While it trains, the folder holds\n"
      "  model.safetensors, config.json, *.vocab   the best model so far, ready to use\n"
      "  checkpoint.safetensors, training.json     everything needed to go on\n"
      "  log.jsonl                                 loss, rate, speed, scores: a line each\n"
      "training.json holds every option as it was resolved, so that --config "
      "DIR/training.json\n"
      "trains the same again; a file with some of its members is a config, too. Flags win.\n"
      "Watch it: --map draws the curve at each evaluation, attn serve --watch DIR is a page.\n"
      "It ends with the budget, or when the score on the development part gets no better.\n"
      "Ctrl-C saves first. A run that goes on has the same losses as one that never stopped.\n"
      "\nExamples:\n"
      "    attn train pronounce --out phones --minutes 3\n"
      "    attn train pronounce --out phones --resume --minutes 10\n"
      "    attn train pronounce --out old --model luong --score concat --reach local-p\n"
      "    attn train translate --out danish --language da\n"
      "    attn train translate --out fast --device gpu --precision bf16 --batch-tokens 16384\n"
      "    attn train pairs --data mine.tsv --out mine --minutes 3 --map mine/curve.svg\n"
      "    attn train pairs --data mine.csv --source-column question --target-column answer "
      "--out mine\n"
      "    attn train pairs --config mine/training.json --dropout 0.3 --out again\n"
      "    attn train pronounce --out names --begin phones --data names.tsv --rate 0.0003\n"
      "    attn train translate --out mine --data sentences.tsv --vocabulary 2000\n"
      "    attn train caption --out pictures --attention soft --minutes 20");
  add_task_argument(*command, options->task, {"caption"});
  command->add_option("--out", options->out, "Folder of the model and its training")
      ->required()
      ->type_name("DIR");
  CLI::Option* resume =
      command->add_flag("--resume", options->resume, "Go on from the folder's checkpoint");
  command
      ->add_option("--begin", options->flags.begin,
                   "Begin with this model, or one that ships: its sizes, vocabularies and "
                   "weights; given\n"
                   "several times, with the mean of their weights")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->excludes(resume);
  add_threads_flag(*command, options->threads);
  add_device_flag(*command, options->flags.device,
                  "Where steps are computed; evaluations run on the CPU");
  add_precision_flag(*command, options->flags.precision);
  command
      ->add_option(
          "--save-every", options->save_every,
          "Steps between checkpoints; default: after 5 seconds, 10, ... then every minute")
      ->check(above(0));
  command
      ->add_option("--shard-mib", options->shard_mib,
                   "Cut checkpoints into files of at most so many MiB, to be carried on")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--config", options->config_file,
                   "What to train, from a file: training.json of a run, or some of its members")
      ->type_name("FILE.json")
      ->excludes(resume);
  command
      ->add_option("--map", options->map,
                   "Draw loss and score here at each evaluation: .svg, .pdf, .png, or .json")
      ->type_name("FILE")
      ->check(map_file_problem);
  add_budget_flags(*command, options->flags);
  add_data_flags(*command, options->flags);
  add_token_flags(*command, options->flags);
  add_model_flags(*command, options->flags);
  add_training_flags(*command, options->flags);
  add_caption_flags(*command, options->caption);
  command->callback([options, command, &action] {
    options->device_given = command->count("--device") > 0;
    options->precision_given = command->count("--precision") > 0;
    action = [options](const Streams& streams) { return train(*options, streams); };
  });
}

}  // namespace attn::tools
