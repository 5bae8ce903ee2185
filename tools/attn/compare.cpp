// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/json.hpp"
#include "attn/models/options.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/prepare.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/trainer.hpp"
#include "attn/text/unicode.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/interrupt.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/subwords.hpp"
#include "tools/attn/training_flags.hpp"
#include "tools/attn/training_progress.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// One line of the table: what is set on top of the task's own model.
struct Contender {
  const char* name;
  const char* about;
  std::vector<std::pair<const char*, const char*>> options;
};

const std::vector<Contender>& contenders() {
  static const std::vector<Contender> kContenders{
      {"none", "RNN without attention", {{"kind", "rnn"}}},
      {"dot", "Luong, dot", {{"kind", "luong"}, {"score", "dot"}}},
      {"general", "Luong, general", {{"kind", "luong"}, {"score", "general"}}},
      {"concat", "Luong, concat", {{"kind", "luong"}, {"score", "concat"}}},
      {"local-m",
       "Luong, local monotonic",
       {{"kind", "luong"}, {"score", "general"}, {"reach", "local-m"}}},
      {"local-p",
       "Luong, local predictive",
       {{"kind", "luong"}, {"score", "general"}, {"reach", "local-p"}}},
      {"bahdanau", "Bahdanau, additive", {{"kind", "bahdanau"}}},
      {"convolutional", "convolutional, multi-step", {{"kind", "convolutional"}}},
      {"transformer", "Transformer", {{"kind", "transformer"}}},
  };
  return kContenders;
}

struct CompareOptions {
  std::string task = "pronounce";
  std::string out;
  std::vector<std::string> only;
  std::int64_t limit = 2000;
  int threads = 0;
  bool json = false;
  TrainingFlags flags;
};

/// The test part, cut in two at the median length of its sources.
struct Halves {
  std::size_t median = 0;  ///< characters
  std::vector<tasks::Example> brief;
  std::vector<tasks::Example> lengthy;
};

Halves halves_of(const std::vector<tasks::Example>& examples) {
  std::vector<std::size_t> lengths;
  lengths.reserve(examples.size());
  for (const tasks::Example& example : examples)
    lengths.push_back(text::code_points(example.source).size());
  std::nth_element(lengths.begin(),
                   lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2),
                   lengths.end());
  Halves halves{lengths[lengths.size() / 2], {}, {}};
  for (const tasks::Example& example : examples)
    (text::code_points(example.source).size() <= halves.median ? halves.brief : halves.lengthy)
        .push_back(example);
  return halves;
}

tasks::TrainingRequest request_of(const CompareOptions& options, const Contender& contender) {
  tasks::TrainingRequest request = tasks::default_request(tasks::task_named(options.task));
  request.model.copy = models::Copy::none;
  for (const auto& [name, value] : contender.options)
    models::set_option(request.model, name, value);
  apply(options.flags, request);
  return request;
}

/// Trains one contender, or goes on with it, and scores it.
nlohmann::json run_one(const CompareOptions& options, const Contender& contender,
                       const tasks::Corpus& corpus, const Halves& halves,
                       const Interrupt& interrupt, const Streams& streams) {
  const fs::path folder = fs::path(options.out) / contender.name;
  const tasks::TrainingRequest request = request_of(options, contender);
  const tasks::Say say = progress(streams);
  std::error_code ignored;
  const auto resume = fs::exists(folder / "checkpoint.safetensors", ignored)
                          ? tasks::Resume::yes
                          : tasks::Resume::no;
  tasks::Prepared prepared =
      tasks::prepare(request, corpus, folder, resume, learn_subwords, say);
  tasks::write_vocabularies(folder, prepared.model);
  prepared.plan.budget = options.flags.budget;
  prepared.plan.device = options.flags.device;
  prepared.plan.precision = steps_in(options.flags.precision);
  TrainingProgress line(streams);
  const tasks::Trained trained =
      tasks::train(prepared.model, prepared.plan,
                   {.progress = [&](const tasks::Progress& now) { line(now); },
                    .stop = [&] { return interrupt.asked(); }});
  line.end();
  if (trained.ended == tasks::TrainingEnd::stopped)
    fail<Error>("stopped and saved; the same command goes on with ", contender.name);
  const tasks::PairModel model = tasks::load_model(folder);
  const tasks::Metric metric = tasks::task_named(options.task).metric;
  nlohmann::json parts{
      {"short", tasks::json_of(tasks::evaluate(model, halves.brief, metric, {}))},
      {"long", tasks::json_of(tasks::evaluate(model, halves.lengthy, metric, {}))}};
  std::vector<tasks::Example> all = halves.brief;
  all.insert(all.end(), halves.lengthy.begin(), halves.lengthy.end());
  parts["all"] = tasks::json_of(tasks::evaluate(model, all, metric, {}));
  return {{"name", contender.name},
          {"about", contender.about},
          {"scores", parts},
          {"steps", trained.steps},
          {"epochs", trained.epochs},
          {"processor_seconds", trained.processor_seconds},
          {"parameters", model.model->parameter_count()}};
}

void print_table(const nlohmann::json& results, const Halves& halves, const Streams& streams) {
  if (results.empty()) return;
  std::vector<std::string> metrics;
  for (const auto& [name, value] : results[0]["scores"]["all"].items()) metrics.push_back(name);
  fmt::print(streams.out, "\n| attention |");
  for (const std::string& metric : metrics)
    fmt::print(streams.out, " {} | short | long |", metric);
  fmt::print(streams.out, " steps | processor s | parameters |\n|---|");
  for (std::size_t i = 0; i < 3 * metrics.size() + 3; ++i) fmt::print(streams.out, "---|");
  fmt::print(streams.out, "\n");
  for (const nlohmann::json& one : results) {
    fmt::print(streams.out, "| {} |", one["about"].get<std::string>());
    for (const std::string& metric : metrics)
      for (const char* part : {"all", "short", "long"})
        fmt::print(streams.out, " {:.1f} |", one["scores"][part][metric].get<double>());
    fmt::print(streams.out, " {} | {:.0f} | {:.2f} M |\n", one["steps"].get<std::int64_t>(),
               one["processor_seconds"].get<double>(), one["parameters"].get<double>() / 1e6);
  }
  fmt::print(streams.out,
             "\nShort sources have at most {} characters: {} examples, {} are longer.\n",
             halves.median, halves.brief.size(), halves.lengthy.size());
}

int compare(const CompareOptions& options, const Streams& streams) {
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  check_device(options.flags.device, "attn compare");
  use_precision(options.flags, "attn compare");
  const tasks::Budget& budget = options.flags.budget;
  if (budget.minutes <= 0.0 && budget.epochs <= 0 && budget.steps <= 0)
    fail("the same budget is what makes a comparison: give --minutes, --epochs or --steps");
  const tasks::TrainingRequest request = request_of(options, contenders().front());
  const tasks::Say say = progress(streams);
  tasks::Corpus corpus = tasks::load_corpus(request, say);
  if (corpus.test.empty()) fail(corpus.name, " has no test part");
  const Halves halves = halves_of(tasks::spread(corpus.test, options.limit));
  fs::create_directories(options.out);

  const Interrupt interrupt;
  nlohmann::json results = nlohmann::json::array();
  for (const Contender& contender : contenders()) {
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(),
                                           contender.name) == options.only.end())
      continue;
    const fs::path result = fs::path(options.out) / contender.name / "result.json";
    std::error_code ignored;
    if (!fs::exists(result, ignored)) {
      say(fmt::format("training {}", contender.about));
      files::write_json(result,
                        run_one(options, contender, corpus, halves, interrupt, streams));
    }
    results.push_back(files::read_json(result));
  }
  if (options.json) {
    fmt::print(streams.out, "{}\n", results.dump(2));
  } else {
    print_table(results, halves, streams);
  }
  return success;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "Train every kind of attention on the same data and budget, and compare");
  command->footer(
      "\nShort and long sources are scored apart: what attention is for shows on the long "
      "ones.\n"
      "Each contender has a folder of its own under --out; one that is done is not trained "
      "again,\n"
      "and after Ctrl-C the same command goes on. Time is the processor's, of all threads.\n"
      "\nExamples:\n"
      "    attn compare pronounce --out compare --minutes 5\n"
      "    attn compare pronounce --out compare --epochs 2 --only none --only dot\n"
      "    attn compare translate --out mine --data pairs.tsv --steps 2000");
  add_task_argument(*command, options->task);
  command->add_option("--out", options->out, "Folder of all trainings")
      ->required()
      ->type_name("DIR");
  std::vector<std::string> kinds;
  for (const Contender& contender : contenders()) kinds.emplace_back(contender.name);
  command->add_option("--only", options->only, "Only this one; may be given again")
      ->check(CLI::IsMember(kinds));
  command->add_option("--limit", options->limit, "Examples of the test part; default 2000")
      ->check(CLI::PositiveNumber);
  add_threads_flag(*command, options->threads);
  command->add_flag("--json", options->json, "As JSON");
  add_device_flag(*command, options->flags.device,
                  "Where steps are computed; evaluations run on the CPU");
  add_precision_flag(*command, options->flags.precision);
  add_budget_flags(*command, options->flags);
  add_data_flags(*command, options->flags);
  add_token_flags(*command, options->flags);
  add_training_flags(*command, options->flags);
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return compare(*options, streams); };
  });
}

}  // namespace attn::tools
