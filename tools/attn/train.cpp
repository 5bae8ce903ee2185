// attn train: trains a model on a task's data or a user's pairs.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
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
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/storage.hpp"
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
  std::int64_t shard_mib = 0;
  TrainingFlags flags;
  std::string map;
  std::string config_file;
  bool device_given = false;
  bool precision_given = false;
};

/// Folders of the models to begin with: those of the flags, else those of the config.
nlohmann::json beginnings(const TrainOptions& options, const tasks::Task& task,
                          const nlohmann::json& config) {
  if (options.flags.begin.empty()) return config.value("begin", nlohmann::json::array());
  const tasks::TaskCard& card = task.card();
  const auto variant = options.flags.settings.find(card.variant_flag);
  const std::string shipped =
      card.shipped(variant == options.flags.settings.end() ? "" : variant->second);
  auto folders = nlohmann::json::array();
  for (const std::string& begin : options.flags.begin)
    folders.push_back(fs::absolute(model_folder(begin, shipped)).lexically_normal().string());
  return folders;
}

/// What is asked of the run, as a part of training.json: the config, and the flags, which win.
nlohmann::json asked_of(const TrainOptions& options, const tasks::Task& task) {
  nlohmann::json asked = options.config_file.empty() ? nlohmann::json::object()
                                                     : read_config(options.config_file, task);
  const nlohmann::json begin = beginnings(options, task, asked);
  asked.merge_patch(asked_by(options.flags, task, "attn train"));
  if (!begin.empty()) asked["begin"] = begin;
  if (options.device_given) asked["device"] = name_of(options.flags.device);
  if (options.precision_given) asked["precision"] = tasks::name_of(options.flags.precision);
  if (options.save_every > 0) asked["save_every"] = options.save_every;
  if (options.shard_mib > 0) asked["shard_mib"] = options.shard_mib;
  return asked;
}

/// The part of the command that is worth keeping in the card of the model.
std::string command_text(const TrainOptions& options, const tasks::Task& task) {
  std::string text = "attn train " + options.task;
  if (!options.config_file.empty())
    text += " --config " + shell_word(fs::path(options.config_file).filename().string());
  return text + flags_text(options.flags, task);
}

/// A training that is resumed: what it was asked when it began, but for where its file is now,
/// how long it goes on and what it runs on.
tasks::TrainingRun saved_run(const TrainOptions& options, nlohmann::json asked) {
  const std::string where = files::path_text(options.out);
  tasks::TrainingRun run = tasks::load_run(options.out);
  if (run.task != options.task)
    fail(where, " is a training of ", run.task, ", not of ", options.task);
  run.on = {};
  run.where.save_every = 0;
  run.where.shard_bytes = 0;
  const tasks::Budget past = run.budget;
  // The file may lie elsewhere now, but its bytes are those that were learnt from.
  asked.erase("data_sha256");
  tasks::read_run(asked, "the command", run);
  run.budget = past;
  const fs::path data = run.what.value("data", "");
  std::error_code ignored;
  if (!data.empty() && !fs::exists(data, ignored))
    fail<FileError>("the training in ", where, " learns from ", files::path_text(data),
                    ", which is not there; name where it is now with --data FILE");
  return run;
}

tasks::TrainingRun new_run(const TrainOptions& options, const tasks::Task& task,
                           const nlohmann::json& asked, const tasks::Corpus* corpus) {
  const std::string where =
      options.config_file.empty() ? "the command" : files::path_text(options.config_file);
  tasks::TrainingRun run = resolved(task, asked, where, corpus);
  run.where.command = command_text(options, task);
  return run;
}

/// With --begin the vocabularies are those of that model.
void check_beginning(const TrainOptions& options, const tasks::Task& task) {
  if (options.flags.begin.empty()) return;
  for (const tasks::Setting& setting : task.settings())
    if (setting.about == tasks::Setting::About::tokens &&
        !setting.member.starts_with("limits.") && options.flags.settings.contains(setting.flag))
      fail("attn train: with --begin the vocabularies are those of that model; leave out --",
           setting.flag);
}

int train(const TrainOptions& options, const Streams& streams) {
  const tasks::Task& task = tasks::task_named(options.task);
  const nlohmann::json asked = asked_of(options, task);
  const auto resume = options.resume ? tasks::Resume::yes : tasks::Resume::no;
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  check_device(options.flags.device, "attn train");
  check_training_folder(options.out, resume);
  check_beginning(options, task);
  tasks::TrainingRun run =
      options.resume ? saved_run(options, asked) : new_run(options, task, asked, nullptr);
  check_device(run.on.device, "attn train");
  use_precision(run.on, "attn train");
  if (const std::string problem = task.misfit(run); !problem.empty()) {
    fmt::print(streams.err, "attn train: {}\nRun with --help for more information.\n", problem);
    return usage;
  }
  const tasks::Say say = progress(streams);
  const tasks::Corpus corpus = task.corpus(run.what, say);
  for (const std::string& note : corpus.notes) say(note);
  check_same_data(run.what, corpus,
                  options.resume
                      ? "Give the file as it was, or learn from this one anew, beginning with "
                        "what was learnt: attn train " +
                            options.task + " --begin " + shell_word(options.out) +
                            " --data FILE --out NEW"
                      : "Give --data FILE to learn from it all the same");
  // Where defaults follow from the data, it is resolved again.
  if (!options.resume && run.begin.empty()) run = new_run(options, task, asked, &corpus);
  if (run.what.contains("data_sha256")) run.what["data_sha256"] = corpus.checksum;
  run.where.folder = options.out;
  run.where.resume = resume;

  const std::unique_ptr<tasks::Learner> learner =
      task.learner(run, corpus, {say, learn_subwords});
  TrainingPicture picture(options.map, options.out, streams);
  if (!options.resume) learner->begin(options.out);
  tasks::save_run(run);
  // Who reads the line below may interrupt from then on.
  const Interrupt interrupt;
  fmt::print(streams.err, "attn: {}\n", learner->about());
  // A budget of the past does not bound what goes on.
  if (options.resume) run.budget = options.flags.budget;
  TrainingProgress line(streams);
  const tasks::Trained trained = tasks::train(*learner, run,
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
  CLI::App* command =
      app.add_subcommand("train", "Train a model on the data of a task, or on your own pairs");
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
  add_task_argument(*command, options->task);
  command->add_option("--out", options->out, "Folder for the model and its checkpoints")
      ->required()
      ->type_name("DIR");
  CLI::Option* resume = command->add_flag("--resume", options->resume,
                                          "Resume from the checkpoint in the folder");
  command
      ->add_option(
          "--begin", options->flags.begin,
          "Start from this model, a folder or one that ships: its sizes, vocabularies and\n"
          "parameters; given several times, from the mean of their parameters")
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
                   "Split checkpoints into files of at most this many MiB")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option(
          "--config", options->config_file,
          "Read the options from a file: training.json of a run, or some of its members")
      ->type_name("FILE.json")
      ->excludes(resume);
  command
      ->add_option(
          "--map", options->map,
          "Draw loss and score to this file at each evaluation: .svg, .pdf, .png, or .json")
      ->type_name("FILE")
      ->check(map_file_problem);
  add_budget_flags(*command, options->flags);
  using About = tasks::Setting::About;
  add_setting_flags(*command, options->flags,
                    {About::data, About::tokens, About::model, About::loss});
  add_training_flags(*command, options->flags);
  command->callback([options, command, &action] {
    options->device_given = command->count("--device") > 0;
    options->precision_given = command->count("--precision") > 0;
    action = [options](const Streams& streams) { return train(*options, streams); };
  });
}

}  // namespace attn::tools
