// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/prepare.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/trainer.hpp"
#include "tools/attn/caption_training.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/interrupt.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/subwords.hpp"
#include "tools/attn/training_end.hpp"
#include "tools/attn/training_flags.hpp"
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
};

/// The part of the command that is worth keeping in the card of the model.
std::string command_text(const TrainOptions& options) {
  std::string text = "attn train " + options.task;
  const auto add = [&](const std::string& flag, const std::string& value) {
    text += " --" + flag + " " + value;
  };
  const TrainingFlags& flags = options.flags;
  if (!flags.data.empty()) add("data", fs::path(flags.data).filename().string());
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

tasks::TrainingRequest request_of(const TrainOptions& options) {
  const fs::path folder = options.out;
  check_training_folder(folder, options.resume ? tasks::Resume::yes : tasks::Resume::no);
  tasks::TrainingRequest request =
      options.resume ? tasks::load_request(folder)
                     : tasks::default_request(tasks::task_named(options.task));
  if (request.task != options.task)
    fail(files::path_text(folder), " is a training of ", request.task, ", not of ",
         options.task);
  if (!options.flags.begin.empty()) {
    if (options.flags.vocabulary > 0 || !options.flags.source_units.empty() ||
        !options.flags.target_units.empty())
      fail("attn train: with --begin the vocabularies are those of that model; leave out ",
           "--vocabulary, --source-units and --target-units");
    std::vector<fs::path> folders;
    folders.reserve(options.flags.begin.size());
    for (const std::string& begin : options.flags.begin)
      folders.push_back(model_folder(begin, options.task));
    tasks::begin_with_models(request, folders);
  }
  apply(options.flags, request);
  if (!options.resume) request.command = command_text(options);
  return request;
}

void tell_beginning(const tasks::Prepared& prepared, const Streams& streams) {
  fmt::print(
      streams.err,
      "attn: {} pairs to learn from{}, {} development; {} tokens in, {} out; {} with "
      "{:.2f} million parameters\n",
      prepared.plan.train.size(),
      prepared.dropped > 0
          ? fmt::format(" ({} too long or empty were left out)", prepared.dropped)
          : "",
      prepared.plan.development.size(), prepared.model.source.size(),
      prepared.model.target.size(),
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

int train(const TrainOptions& options, const Streams& streams) {
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  check_device(options.flags.device, "attn train");
  use_precision(options.flags, "attn train");
  if (options.task == "caption")
    return train_caption({.out = options.out,
                          .resume = options.resume,
                          .save_every = options.save_every,
                          .shard_bytes = options.shard_mib << 20,
                          .flags = options.flags,
                          .caption = options.caption},
                         streams);
  if (options.caption.given())
    fail("attn train: the group Caption of the flags is of the task caption, not of ",
         options.task);
  const tasks::TrainingRequest request = request_of(options);
  if (const std::string problem = misfit(request.model); !problem.empty()) {
    fmt::print(streams.err, "attn train: {}\nRun with --help for more information.\n", problem);
    return usage;
  }
  const tasks::Say say = progress(streams);
  const tasks::Corpus corpus = tasks::load_corpus(request, say);
  for (const std::string& note : corpus.notes) say(note);
  const auto resume = options.resume ? tasks::Resume::yes : tasks::Resume::no;
  tasks::Prepared prepared =
      tasks::prepare(request, corpus, options.out, resume, learn_subwords, say);
  if (!options.resume) {
    tasks::write_vocabularies(options.out, prepared.model);
    tasks::save_request(options.out, request);
  }
  tell_beginning(prepared, streams);
  prepared.plan.budget = options.flags.budget;
  prepared.plan.command = request.command;
  prepared.plan.save_every = options.save_every;
  prepared.plan.shard_bytes = options.shard_mib << 20;
  prepared.plan.device = options.flags.device;
  prepared.plan.precision = steps_in(options.flags.precision);

  const Interrupt interrupt;
  TrainingProgress line(streams);
  const tasks::Trained trained =
      tasks::train(prepared.model, prepared.plan,
                   {.progress = [&](const tasks::Progress& now) { line(now); },
                    .stop = [&] { return interrupt.asked(); }});
  line.end();
  tell_end_of_training(options.task, options.out, request.data, trained, streams);
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
      "It ends with the budget, or when the score on the development part gets no better.\n"
      "Ctrl-C saves first. A run that goes on has the same losses as one that never stopped.\n"
      "\nExamples:\n"
      "    attn train pronounce --out phones --minutes 3\n"
      "    attn train pronounce --out phones --resume --minutes 10\n"
      "    attn train pronounce --out old --model luong --score concat --reach local-p\n"
      "    attn train translate --out danish --language da\n"
      "    attn train translate --out fast --device gpu --precision bf16 --batch-tokens 16384\n"
      "    attn train pronounce --out mine --data words.tsv\n"
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
      ->add_option("--save-every", options->save_every,
                   "Steps between checkpoints; default: a minute")
      ->check(above(0));
  command
      ->add_option("--shard-mib", options->shard_mib,
                   "Cut checkpoints into files of at most so many MiB, to be carried on")
      ->check(CLI::Range(1, 1 << 20));
  add_budget_flags(*command, options->flags);
  add_data_flags(*command, options->flags);
  add_token_flags(*command, options->flags);
  add_model_flags(*command, options->flags);
  add_training_flags(*command, options->flags);
  add_caption_flags(*command, options->caption);
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return train(*options, streams); };
  });
}

}  // namespace attn::tools
