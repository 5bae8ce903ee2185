// attn compare: trains every kind of attention on the same budget and tabulates the scores.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/checkpoint.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/pair_learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/unicode.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/compare_lengths.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/interrupt.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/subwords.hpp"
#include "tools/attn/training_end.hpp"
#include "tools/attn/training_flags.hpp"
#include "tools/attn/training_progress.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

struct CompareOptions {
  std::string task = "pronounce";
  std::string out;
  std::vector<std::string> only;
  std::int64_t limit = 2000;
  int threads = 0;
  bool json = false;
  std::string map;
  bool by_length = false;
  std::size_t trained_to = 0;  ///< characters; 0: all
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

/// Where the task's defaults follow from the data, `corpus` is it.
tasks::TrainingRun run_of(const CompareOptions& options, const tasks::Contender& contender,
                          const tasks::Corpus* corpus) {
  const tasks::Task& task = tasks::task_named(options.task);
  nlohmann::json asked = contender.settings;
  asked.merge_patch(asked_by(options.flags, task, "attn compare"));
  tasks::TrainingRun run = resolved(task, asked, "the command", corpus);
  run.on = {options.flags.device, options.flags.precision};
  return run;
}

/// Tells two corpora apart: texts, and the parts they are in.
std::string fingerprint_of(const tasks::Corpus& corpus) {
  std::string sums;
  for (const auto* part : {&corpus.train, &corpus.development, &corpus.test}) {
    std::string all;
    for (const tasks::Example& example : *part) {
      (all += example.source) += '\0';
      for (const std::string& target : example.targets) (all += target) += '\0';
      all += '\n';
    }
    sums += text::sha256_hex(std::as_bytes(std::span(all)));
  }
  return text::sha256_hex(std::as_bytes(std::span(sums))).substr(0, 16);
}

/// What a contender is measured with. A result of anything else is no line of the same table.
nlohmann::json identity_of(const CompareOptions& options, const tasks::TrainingRun& run,
                           const tasks::Corpus& corpus, const std::string& fingerprint) {
  const nlohmann::json& what = run.what;
  nlohmann::json identity{{"task", run.task},
                          {"data", files::printable(corpus.name)},
                          {"fingerprint", fingerprint},
                          {"model", what.at("model")},
                          {"training", tasks::json_of(run.how)},
                          {"budget",
                           {{"minutes", run.budget.minutes},
                            {"epochs", run.budget.epochs},
                            {"steps", run.budget.steps}}},
                          {"limit", options.limit},
                          {"device", std::string(name_of(run.on.device))},
                          {"precision", tasks::name_of(run.on.precision)}};
  if (what.contains("limits")) identity["longest"] = what.at("limits");
  if (what.contains("loss")) identity["loss"] = what.at("loss");
  if (what.contains("source_units"))
    identity["tokens"] = {{"source", what.at("source_units")},
                          {"target", what.at("target_units")},
                          {"vocabulary", what.at("vocabulary")},
                          {"shared", what.at("shared_vocabulary")}};
  return identity;
}

/// " 5 minutes", " 2000 steps".
std::string spoken(const tasks::Budget& budget) {
  std::string text;
  if (budget.minutes > 0.0) text += fmt::format(" {:g} minutes", budget.minutes);
  if (budget.epochs > 0)
    text += fmt::format("{} {} epochs", text.empty() ? "" : " or", budget.epochs);
  if (budget.steps > 0)
    text += fmt::format("{} {} steps", text.empty() ? "" : " or", budget.steps);
  return text;
}

using ByMetric = std::map<std::string, double>;

/// A line of the table, as a result tells it.
struct Line {
  std::string about;
  std::string chooses;  ///< the metric that does
  ByMetric all;
  ByMetric brief;  ///< empty where there is no such example
  ByMetric lengthy;
  std::int64_t steps = 0;
  double processor_seconds = 0.0;
  double parameters = 0.0;
};

ByMetric scores_of(const nlohmann::json& scores, const char* part, const std::string& where) {
  const nlohmann::json& found = files::member(scores, part, where);
  ByMetric values;
  if (found.is_null()) return values;
  if (!found.is_object())
    fail<FileError>(where, ": scores.", part, " is ", found.type_name(),
                    "; an object or null is accepted");
  for (const auto& [name, value] : found.items()) values[name] = files::to_double(value, where);
  return values;
}

Line line_of(const nlohmann::json& result, const std::string& where) {
  const auto at = [&](const char* key) -> const nlohmann::json& {
    return files::member(result, key, where);
  };
  const nlohmann::json& scores = at("scores");
  return {.about = files::to_text(at("about"), where),
          .chooses = "",
          .all = scores_of(scores, "all", where),
          .brief = scores_of(scores, "short", where),
          .lengthy = scores_of(scores, "long", where),
          .steps = files::to_int(at("steps"), where),
          .processor_seconds = files::to_double(at("processor_seconds"), where),
          .parameters = files::to_double(at("parameters"), where)};
}

/// The result of a contender that is done; an error when it was measured with anything else.
nlohmann::json read_result(const fs::path& path, const nlohmann::json& run) {
  const std::string where = files::path_text(path);
  const std::string advice = "name another --out, or remove " +
                             files::path_text(path.parent_path()) + " to train it again";
  nlohmann::json result = files::read_json(path);
  if (!result.is_object() || !result.contains("run"))
    fail<FileError>(where, " does not tell what it was measured with; ", advice);
  nlohmann::json was = files::member(result, "run", where);
  // The same texts under another name are the same data.
  if (files::member(was, "fingerprint", where) == run.at("fingerprint"))
    was["data"] = run.at("data");
  const std::string lines = tasks::differences(was, run);
  if (!lines.empty())
    fail<FileError>(where, " is of another comparison:", lines, "\nGive what it was run with, ",
                    advice);
  line_of(result, where);  // checked before others are trained
  return result;
}

/// One that was asked for.
struct Competitor {
  const tasks::Contender& contender;
  nlohmann::json run;  ///< what it is measured with
  fs::path folder;

  fs::path result() const { return folder / "result.json"; }
  /// Holds `run` until there is a result: what else is in the folder then came from it.
  fs::path begun() const { return folder / "run.json"; }
};

/// Whether to go on from a checkpoint. What was killed before its first one begins again; a
/// model that came from elsewhere is left alone.
tasks::Resume begin(const Competitor& one) {
  std::error_code ignored;
  if (fs::exists(one.folder / "checkpoint.safetensors", ignored)) return tasks::Resume::yes;
  const bool ours =
      fs::exists(one.begun(), ignored) && files::read_json(one.begun()) == one.run;
  if (!ours) check_training_folder(one.folder, tasks::Resume::no);
  tasks::make_folder(one.folder);
  files::write_json(one.begun(), one.run);
  return tasks::Resume::no;
}

/// Trains one contender, or goes on with it, and scores it.
nlohmann::json run_one(const CompareOptions& options, const Competitor& one,
                       const tasks::Corpus& corpus, const Halves& halves,
                       const Interrupt& interrupt, const Streams& streams) {
  const tasks::Contender& contender = one.contender;
  const fs::path& folder = one.folder;
  const tasks::Task& task = tasks::task_named(options.task);
  tasks::TrainingRun run = run_of(options, contender, &corpus);
  run.where.folder = folder;
  run.where.resume = begin(one);
  const std::unique_ptr<tasks::Learner> learner =
      task.learner(run, corpus, {progress(streams), learn_subwords});
  learner->begin(folder);
  TrainingProgress line(streams);
  const tasks::Trained trained =
      tasks::train(*learner, run,
                   {.progress = [&](const tasks::Progress& now) { line(now); },
                    .stop = [&] { return interrupt.asked(); }});
  line.end();
  if (trained.ended == tasks::TrainingEnd::stopped)
    fail<Error>("stopped and saved; the same command goes on with ", contender.name);
  const std::unique_ptr<tasks::Model> model = task.load(folder);
  // Where all sources have one length there is no long half, and nothing to score.
  const auto scored = [&](const std::vector<tasks::Example>& part) {
    return part.empty() ? nlohmann::json(nullptr) : tasks::json_of(task.evaluate(*model, part));
  };
  std::vector<tasks::Example> all = halves.brief;
  all.insert(all.end(), halves.lengthy.begin(), halves.lengthy.end());
  const nlohmann::json parts{
      {"short", scored(halves.brief)}, {"long", scored(halves.lengthy)}, {"all", scored(all)}};
  return {{"name", contender.name},
          {"about", contender.about},
          {"scores", parts},
          {"steps", trained.steps},
          {"epochs", trained.epochs},
          {"processor_seconds", trained.processor_seconds},
          {"parameters", model->module().parameter_count()}};
}

void print_table(const std::vector<Line>& table, const Halves& halves, const Streams& streams) {
  if (table.empty()) return;
  fmt::print(streams.out, "\n| attention |");
  for (const auto& [metric, value] : table.front().all)
    fmt::print(streams.out, " {} | short | long |", metric);
  fmt::print(streams.out, " steps | processor s | parameters |\n|---|");
  for (std::size_t i = 0; i < 3 * table.front().all.size() + 3; ++i)
    fmt::print(streams.out, "---|");
  fmt::print(streams.out, "\n");
  for (const Line& line : table) {
    fmt::print(streams.out, "| {} |", line.about);
    for (const auto& [metric, value] : table.front().all)
      for (const ByMetric* part : {&line.all, &line.brief, &line.lengthy}) {
        const auto found = part->find(metric);
        fmt::print(streams.out, " {} |",
                   found == part->end() ? "-" : fmt::format("{:.1f}", found->second));
      }
    fmt::print(streams.out, " {} | {:.0f} | {:.2f} M |\n", line.steps, line.processor_seconds,
               line.parameters / 1e6);
  }
  fmt::print(streams.out,
             "\nShort sources have at most {} characters: {} examples, {} are longer.\n",
             halves.median, halves.brief.size(), halves.lengthy.size());
}

/// The score that chooses, of each contender that is done.
maps::Bars bars_of(const CompareOptions& options, const std::vector<Line>& table,
                   const std::string& data, std::size_t examples) {
  const std::string metric = table.front().chooses;
  maps::Bars bars{
      .title = "Kinds of attention on " + files::printable(data),
      .caption = fmt::format("{} on {} test examples after{} of training each.", metric,
                             examples, spoken(options.flags.budget)),
      .value_title = metric + (tasks::counts_errors(metric) ? ", % (lower is better)"
                                                            : ", % (higher is better)"),
      .groups = {},
      .series = {{"all", {}}, {"short", {}}, {"long", {}}}};
  const bool halves = std::all_of(table.begin(), table.end(), [](const Line& line) {
    return !line.brief.empty() && !line.lengthy.empty();
  });
  if (!halves) bars.series.resize(1);
  if (halves) bars.caption += " Short and long sources are parted at their median length.";
  for (const Line& line : table) {
    bars.groups.push_back(line.about);
    const ByMetric* parts[] = {&line.all, &line.brief, &line.lengthy};
    for (std::size_t i = 0; i < bars.series.size(); ++i) {
      const auto found = parts[i]->find(metric);
      const double value = found == parts[i]->end() ? 0.0 : found->second;
      bars.series[i].values.push_back(std::round(100.0 * value) / 100.0);
    }
  }
  return bars;
}

/// Scores of those that are done in parts of the test set by length: a table, and the map.
maps::Training compare_lengths(const CompareOptions& options,
                               const std::vector<Competitor>& competitors,
                               const tasks::Corpus& corpus, const Streams& streams) {
  const tasks::Task& task = tasks::task_named(options.task);
  const std::string metric = task.card().score;
  const std::vector<LengthBin> bins = length_bins(tasks::spread(corpus.test, options.limit));
  std::vector<LengthCurve> curves;
  for (const Competitor& one : competitors)
    // Few, and their number is not known before.
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    curves.push_back(
        {one.contender.about, scores_by_length(task, *task.load(one.folder), bins, metric)});
  if (!options.json) {
    fmt::print(streams.out, "\n| {} by characters |", metric);
    for (const LengthBin& bin : bins)
      fmt::print(streams.out, " {}-{} |", bin.shortest, bin.longest);
    fmt::print(streams.out, "\n|---|");
    for (std::size_t i = 0; i < bins.size(); ++i) fmt::print(streams.out, "---|");
    for (const LengthCurve& curve : curves) {
      fmt::print(streams.out, "\n| {} |", curve.about);
      for (const double score : curve.scores) fmt::print(streams.out, " {:.1f} |", score);
    }
    fmt::print(streams.out, "\n");
  }
  return lengths_map(corpus.name, metric, bins, curves, options.trained_to);
}

int compare(const CompareOptions& options, const Streams& streams) {
  if (!options.map.empty()) check_map_output(options.map);
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  check_device(options.flags.device, "attn compare");
  use_precision({options.flags.device, options.flags.precision}, "attn compare");
  const tasks::Budget& budget = options.flags.budget;
  if (!budget.bounded())
    fail("the same budget is what makes a comparison: give --minutes, --epochs or --steps");
  const tasks::Task& task = tasks::task_named(options.task);
  const std::vector<tasks::Contender> contenders = task.contenders();
  if (contenders.empty()) fail("attn compare: ", options.task, " has one kind of model");
  const tasks::Say say = progress(streams);
  tasks::Corpus corpus = task.corpus(run_of(options, contenders.front(), nullptr).what, say);
  if (corpus.test.empty()) fail(corpus.name, " has no test part");
  if (options.trained_to > 0) train_to(corpus, options.trained_to);
  const Halves halves = halves_of(tasks::spread(corpus.test, options.limit));
  const std::string fingerprint = fingerprint_of(corpus);
  std::vector<Competitor> chosen;
  for (const tasks::Contender& contender : contenders) {
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(),
                                           contender.name) == options.only.end())
      continue;
    chosen.push_back(
        {contender,
         identity_of(options, run_of(options, contender, &corpus), corpus, fingerprint),
         fs::path(options.out) / contender.name});
  }
  std::error_code ignored;
  // Before the first is trained: what does not fit is told at once.
  for (const Competitor& one : chosen)
    if (fs::exists(one.result(), ignored)) read_result(one.result(), one.run);
  tasks::make_folder(options.out);

  const Interrupt interrupt;
  nlohmann::json results = nlohmann::json::array();
  std::vector<Line> table;
  for (const Competitor& one : chosen) {
    if (!fs::exists(one.result(), ignored)) {
      say(fmt::format("training {}", one.contender.about));
      nlohmann::json result = run_one(options, one, corpus, halves, interrupt, streams);
      result["run"] = one.run;
      files::write_json(one.result(), result);
      fs::remove(one.begun(), ignored);
    }
    results.push_back(read_result(one.result(), one.run));
    table.push_back(line_of(results.back(), files::path_text(one.result())));
    table.back().chooses = task.card().score;
    if (!options.map.empty() && !options.by_length)
      write_map(
          bars_of(options, table, corpus.name, halves.brief.size() + halves.lengthy.size()),
          options.map);
  }
  if (options.json) {
    fmt::print(streams.out, "{}\n", results.dump(2));
  } else {
    print_table(table, halves, streams);
  }
  if (options.by_length) {
    const maps::Map lengths = compare_lengths(options, chosen, corpus, streams);
    if (!options.map.empty()) write_map(lengths, options.map);
  }
  if (!options.map.empty()) fmt::print(streams.err, "Written: {}\n", options.map);
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
      "and after Ctrl-C or a kill the same command goes on; results of other data, options or\n"
      "budgets are refused. Time is the processor's, of all threads.\n"
      "\nExamples:\n"
      "    attn compare pronounce --out compare --minutes 5\n"
      "    attn compare pronounce --out compare --epochs 2 --only none --only dot\n"
      "    attn compare pairs --out kinds --data mine.tsv --minutes 1 --map kinds.svg\n"
      "    attn compare translate --out kinds --minutes 10 --by-length --map lengths.svg\n"
      "    attn map kinds/dot kinds/bahdanau --out curves.svg     how two of them learnt");
  add_task_argument(*command, options->task);
  command->add_option("--out", options->out, "Folder of all runs")
      ->required()
      ->type_name("DIR");
  std::vector<std::string> kinds;
  for (const tasks::Task* task : tasks::all_tasks())
    for (const tasks::Contender& contender : task->contenders())
      if (std::find(kinds.begin(), kinds.end(), contender.name) == kinds.end())
        kinds.push_back(contender.name);
  command->add_option("--only", options->only, "Train this contender only; may be repeated")
      ->check(CLI::IsMember(kinds));
  command->add_option("--limit", options->limit, "Number of test examples; default 2000")
      ->check(above(0));
  add_threads_flag(*command, options->threads);
  command->add_flag("--json", options->json, "Print JSON");
  command
      ->add_option("--map", options->map,
                   "Draw the scores as bars after each run: .svg, .pdf, .png, or .json")
      ->type_name("FILE")
      ->check(map_file_problem);
  command->add_flag(
      "--by-length", options->by_length,
      "Score ten parts of the test examples from short to long; --map draws them");
  command
      ->add_option(
          "--trained-to", options->trained_to,
          "Learn from sources of up to so many characters, test on up to twice as many")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("CHARACTERS");
  add_device_flag(*command, options->flags.device,
                  "Where steps are computed; evaluations run on the CPU");
  add_precision_flag(*command, options->flags.precision);
  add_budget_flags(*command, options->flags);
  using About = tasks::Setting::About;
  add_setting_flags(*command, options->flags, {About::data, About::tokens, About::loss});
  add_training_flags(*command, options->flags);
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return compare(*options, streams); };
  });
}

}  // namespace attn::tools
