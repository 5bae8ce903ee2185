#include "tools/attn/answering.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/heads.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/unicode.hpp"
#include "tools/attn/answer_maps.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/search_flags.hpp"

namespace attn::tools {
namespace {

/// A line of standard input may be this long; beyond it is no text.
constexpr std::size_t kLongestLine = std::size_t{64} << 20;

struct Answered {
  std::vector<std::string> pieces;
  std::vector<std::vector<tasks::Answer>> answers;  ///< of each piece, best first
};

std::string joined(const Answered& answered, std::size_t rank) {
  std::string text;
  for (const auto& candidates : answered.answers) {
    const std::string& one = candidates[std::min(rank, candidates.size() - 1)].text;
    if (!text.empty() && !one.empty()) text += " ";
    text += one;
  }
  return text;
}

/// Tells of long work now and then.
tasks::Done told_on(std::FILE* err, std::size_t all) {
  return [err, all, last = std::chrono::steady_clock::now()](std::int64_t done) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::seconds(5)) return;
    last = now;
    fmt::print(err, "attn: {} of {} pieces answered\n", done, all);
  };
}

std::vector<Answered> answer_group(const tasks::PairModel& model, const AnswerOptions& options,
                                   const Manner& manner, std::span<const std::string> texts,
                                   const Streams& streams) {
  const tasks::Task& task = tasks::task_named(model.task);
  std::vector<Answered> answered(texts.size());
  std::vector<std::string> sources;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    answered[i].pieces =
        manner.split ? manner.split(model, texts[i]) : std::vector<std::string>{texts[i]};
    for (const std::string& piece : answered[i].pieces)
      sources.push_back(task.prepare ? task.prepare(piece) : piece);
  }
  models::SearchOptions search = options.search;
  apply(options.flags, search);
  auto answers = tasks::answer(model, sources, search, told_on(streams.err, sources.size()));
  auto next = answers.begin();
  for (Answered& one : answered)
    for (std::size_t i = 0; i < one.pieces.size(); ++i)
      one.answers.push_back(std::move(*next++));
  return answered;
}

nlohmann::json answer_json(const tasks::PairModel& model, const tasks::Answer& answer,
                           bool weights) {
  nlohmann::json json{{"text", answer.text},
                      {"score", answer.score},
                      {"log_probability", answer.log_probability},
                      {"finished", answer.finished}};
  if (!weights) return json;
  json["source_tokens"] = tasks::labels(model.source, answer.source);
  json["target_tokens"] = tasks::target_labels(model, answer);
  // A row for each token written, eos too.
  json["weights"] = nlohmann::json::array();
  const auto columns = static_cast<std::ptrdiff_t>(answer.source.size());
  for (auto row = answer.weights.begin(); row != answer.weights.end(); row += columns)
    json["weights"].push_back(std::vector<float>(row, row + columns));
  return json;
}

void print_json(const tasks::PairModel& model, const std::string& text,
                const Answered& answered, const AnswerOptions& options,
                const Streams& streams) {
  nlohmann::json pieces = nlohmann::json::array();
  for (std::size_t i = 0; i < answered.pieces.size(); ++i) {
    nlohmann::json answers = nlohmann::json::array();
    for (const tasks::Answer& one : answered.answers[i])
      answers.push_back(answer_json(model, one, options.weights));
    pieces.push_back({{"source", answered.pieces[i]}, {"answers", std::move(answers)}});
  }
  const nlohmann::json line{
      {"text", text}, {"answer", joined(answered, 0)}, {"pieces", std::move(pieces)}};
  fmt::print(streams.out, "{}\n", line.dump());
}

void print_text(const std::string& text, const Answered& answered, const AnswerOptions& options,
                const Manner& manner, const Streams& streams) {
  std::size_t candidates = 1;
  for (const auto& one : answered.answers) candidates = std::max(candidates, one.size());
  candidates = std::min(candidates, static_cast<std::size_t>(options.search.best));
  for (std::size_t rank = 0; rank < candidates; ++rank) {
    if (manner.echo) fmt::print(streams.out, "{}\t", text);
    fmt::print(streams.out, "{}", joined(answered, rank));
    if (options.search.best > 1 && answered.answers.size() == 1)
      fmt::print(streams.out, "\t{:.3f}", answered.answers[0][rank].score);
    fmt::print(streams.out, "\n");
  }
}

void check_text(const std::string& text, const std::string& which) {
  if (!text::is_utf8(text))
    fail(which, " is not UTF-8: ", files::in_quotes(text),
         "; convert it first, for example with iconv");
}

/// A folder or a broken disk ends like a file does; only the stream knows better.
void check_end(const std::istream& in) {
  if (in.bad() || (&in == &std::cin && std::ferror(stdin) != 0))
    fail<FileError>("standard input cannot be read further; is it a file or a pipe?");
}

/// What is wrong with the flags together; "": nothing.
std::string misuse(const AnswerOptions& options) {
  models::SearchOptions search = options.search;
  apply(options.flags, search);
  if (search.best > search.beam)
    return fmt::format("--best {} is more than --beam {} finds; at most the beam is accepted",
                       search.best, search.beam);
  if (search.temperature > 0.0 && search.beam != 1)
    return fmt::format(
        "--temperature {} draws one answer, and --beam {} follows more; "
        "add --beam 1",
        search.temperature, search.beam);
  if (!options.map.heads.empty() && !options.map.wanted())
    return "--heads says what --map or --show draws; give one of them";
  return "";
}

/// Before a model is loaded; tells of what is wrong usage.
bool fits_together(const AnswerOptions& options, const Streams& streams) {
  const std::string problem = misuse(options);
  if (!problem.empty())
    fmt::print(streams.err, "attn: {}\nRun with --help for more information.\n", problem);
  return problem.empty();
}

tasks::PairModel asked_for(const std::string& task, const AnswerOptions& options) {
  const std::string command = "attn " + task;
  check_device(options.device, command);  // before a folder is looked for
  if (!options.map.file.empty()) check_map_output(options.map.file);
  return load_model_on(options.device, model_folder(options.model, task), command);
}

class Answering {
 public:
  Answering(const std::string& task, const AnswerOptions& options, const Manner& manner,
            const Streams& streams)
      : options_(options),
        manner_(manner),
        streams_(streams),
        model_(asked_for(task, options)),
        maps_(options.map, options.search.look, streams) {
    if (model_.task != task)
      fail(options.model, " is a model for ", model_.task, ", not for ", task);
  }

  void group(std::span<const std::string> texts) {
    const auto answered = answer_group(model_, options_, manner_, texts, streams_);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (options_.json) {
        print_json(model_, texts[i], answered[i], options_, streams_);
      } else {
        print_text(texts[i], answered[i], options_, manner_, streams_);
      }
      for (const auto& candidates : answered[i].answers) maps_.draw(model_, candidates[0]);
    }
    std::fflush(streams_.out);
  }

  /// Throws where the model cannot read the text.
  void check(const std::string& text, const std::string& which) const {
    check_text(text, which);
    const std::string problem = manner_.problem ? manner_.problem(model_, text) : "";
    if (!problem.empty()) fail(which, " ", problem);
  }

  /// What was read before a wrong line is answered before that line is an error.
  void lines(std::istream& in) {
    std::vector<std::string> waiting;
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      try {
        check_line(line, "line " + std::to_string(number) + " of standard input");
      } catch (const Error&) {
        group(waiting);
        throw;
      }
      waiting.push_back(line);
      if (waiting.size() == static_cast<std::size_t>(options_.lines)) {
        group(waiting);
        waiting.clear();
      }
    }
    group(waiting);
    check_end(in);
  }

 private:
  void check_line(const std::string& line, const std::string& which) const {
    if (line.size() > kLongestLine)
      fail(which, " has ", line.size(), " bytes; at most ", kLongestLine, " are read");
    check(line, which);
  }

  const AnswerOptions& options_;
  const Manner& manner_;
  const Streams& streams_;
  tasks::PairModel model_;
  AnswerMaps maps_;
};

}  // namespace

void add_answer_options(CLI::App& command, const std::string& task, AnswerOptions& options) {
  const tasks::Task& known = tasks::task_named(task);
  options.search = known.search;
  command.add_option("--model", options.model, "Model folder, or the name of one that ships")
      ->type_name("DIR");
  add_search_flags(command, options.flags, &known);
  command.add_option("--best", options.search.best, "Answers of each text; at most the beam")
      ->check(CLI::Range(1, 64));
  command
      .add_option("--temperature", options.search.temperature,
                  "Above 0: sample words instead of taking the likeliest (with --beam 1)")
      ->check(between(0, 100));
  command
      .add_option("--top", options.search.top, "Sample from this many likeliest words; 0: all")
      ->check(at_least(0));
  command.add_option("--seed", options.search.seed, "Random seed for sampling")
      ->check(at_least(0));
  command.add_option("--lines", options.lines, "Lines of standard input answered at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  CLI::Option* json = command.add_flag("--json", options.json, "A JSON object a text");
  command.add_flag("--weights", options.weights, "With --json: tokens, and where each looked")
      ->needs(json);
  add_device_flag(command, options.device, "Where answers are computed");
  add_map_options(command, options.map);
  add_look_options(command, options.search.look);
}

int answer_texts(const std::string& task, const AnswerOptions& options, const Manner& manner,
                 const std::vector<std::string>& texts, const Streams& streams) {
  if (!fits_together(options, streams)) return usage;
  const auto which = [](std::size_t i) { return "text " + std::to_string(i + 1); };
  for (std::size_t i = 0; i < texts.size(); ++i) {
    check_text(texts[i], which(i));
    if (text::normalise(texts[i]).empty()) fail(which(i), " is empty; there is nothing to do");
  }
  Answering answering(task, options, manner, streams);
  for (std::size_t i = 0; i < texts.size(); ++i) answering.check(texts[i], which(i));
  answering.group(texts);
  return success;
}

int answer_all(const std::string& task, const AnswerOptions& options, const Manner& manner,
               const Streams& streams) {
  const auto dashes = std::count(options.texts.begin(), options.texts.end(), "-");
  if (dashes > 0 && options.texts.size() > 1) {
    fmt::print(streams.err, "attn: - is standard input and stands alone; {} texts were given\n",
               options.texts.size());
    return usage;
  }
  if (dashes == 1) {
    if (!fits_together(options, streams)) return usage;
    Answering(task, options, manner, streams).lines(std::cin);
    return success;
  }
  return answer_texts(task, options, manner, options.texts, streams);
}

}  // namespace attn::tools
