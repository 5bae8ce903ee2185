#include "tools/attn/answering.hpp"

#include <fmt/core.h>
#include <sys/poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <istream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/reply.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/unicode.hpp"
#include "tools/attn/answer_maps.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/search_flags.hpp"
#include "tools/serve/answers.hpp"

namespace attn::tools {
namespace {

/// A line of standard input may be this long; beyond it is no text.
constexpr std::size_t kLongestLine = std::size_t{64} << 20;

/// Tells of long work now and then.
tasks::Done told_on(std::FILE* err) {
  return [err, last = std::chrono::steady_clock::now()](std::int64_t done) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::seconds(5)) return;
    last = now;
    fmt::print(err, "attn: {} pieces answered\n", done);
  };
}

/// Whether reading on need not wait for whoever writes. At the end it need not, either.
bool more_waits(std::istream& in) {
  if (in.rdbuf()->in_avail() != 0 || &in != &std::cin) return true;
  pollfd standard_input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&standard_input, 1, 0) != 0;
}

/// A folder or a broken disk ends like a file does; only the stream knows better.
void check_end(const std::istream& in) {
  if (in.bad() || (&in == &std::cin && std::ferror(stdin) != 0))
    fail<FileError>("standard input cannot be read further; is it a file or a pipe?");
}

/// Before a model is loaded; tells of what is wrong usage.
bool fits_together(const AnswerOptions& options, const Streams& streams) {
  std::string problem = misuse(options.choices);
  if (problem.empty() && !options.map.heads.empty() && !options.map.wanted())
    problem = "--heads says what --map or --show draws; give one of them";
  if (!problem.empty())
    fmt::print(streams.err, "attn: {}\nRun with --help for more information.\n", problem);
  return problem.empty();
}

tasks::PairModel model_of(const std::string& task, const AnswerOptions& options) {
  const std::string command = "attn " + task;
  check_device(options.device, command);  // before a folder is looked for
  if (!options.map.file.empty()) check_map_output(options.map.file);
  return load_model_on(options.device, model_folder(options.model, task), command);
}

/// A text with its name in messages.
struct Question {
  std::string text;
  std::string which;    ///< "text 3", "line 7 of standard input"
  std::string problem;  ///< why it is not answered; "": it is
};

class Answering {
 public:
  Answering(const std::string& task, const AnswerOptions& options, const Streams& streams)
      : options_(options),
        streams_(streams),
        answerer_(model_of(task, options)),
        // What reads JSON from the output would trip over a heat map.
        maps_(options.map, options.json ? streams.err : streams.out) {
    if (answerer_.task().name != task)
      fail(options.model, " is a model for ", answerer_.task().name, ", not for ", task);
  }

  /// All of them, or none and an error that names the first that is refused.
  void texts(const std::vector<std::string>& texts) {
    std::vector<Question> questions;
    for (const std::string& text : texts) {
      questions.push_back({text, "text " + std::to_string(questions.size() + 1), ""});
      if (const std::string problem = answerer_.refusal(text); !problem.empty())
        fail(questions.back().which, " ", problem);
    }
    answer(questions, options_.echo);
  }

  /// Whether all lines could be answered.
  bool lines(std::istream& in) {
    bool all = true;
    std::vector<Question> waiting;
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      waiting.push_back(
          {line, "line " + std::to_string(number) + " of standard input", problem_of(line)});
      all = all && waiting.back().problem.empty();
      // Whoever writes a line and waits for its answer gets it; a file is read in batches.
      if (waiting.size() < static_cast<std::size_t>(options_.lines) && more_waits(in)) continue;
      answer(waiting, false);
      waiting.clear();
    }
    answer(waiting, false);
    check_end(in);
    return all;
  }

 private:
  std::string problem_of(const std::string& line) const {
    if (line.size() > kLongestLine)
      return fmt::format("has {} bytes; at most {} are read", line.size(), kLongestLine);
    return is_blank(line) ? "" : answerer_.refusal(line);
  }

  static bool is_blank(const std::string& text) {
    return text::is_utf8(text) && text::normalise(text).empty();
  }

  void answer(const std::vector<Question>& questions, bool echo) {
    std::vector<tasks::Input> inputs;
    for (const Question& one : questions)
      if (one.problem.empty() && !is_blank(one.text)) inputs.emplace_back(one.text);
    const std::vector<tasks::Reply> replies =
        answerer_(inputs, options_.choices, told_on(streams_.err));
    auto next = replies.begin();
    for (const Question& one : questions) {
      if (!one.problem.empty()) {
        print_problem(one);
      } else if (is_blank(one.text)) {
        tasks::Reply nothing;
        nothing.answers.emplace_back().finished = true;
        print(one, nothing, false);
      } else {
        print(one, *next++, echo);
      }
    }
    std::fflush(streams_.out);
  }

  /// A line of the output still belongs to each line of the input.
  void print_problem(const Question& question) {
    const std::string message = question.which + " " + question.problem;
    fmt::print(streams_.err, "attn: {}\n", message);
    fmt::print(streams_.out, "{}\n",
               options_.json ? nlohmann::json{{"error", message}}.dump() : "");
  }

  void print(const Question& question, const tasks::Reply& reply, bool echo) {
    if (options_.json) {
      print_json(question.text, reply);
    } else {
      for (const tasks::Answer& answer : reply.answers) {
        if (echo) fmt::print(streams_.out, "{}\t", question.text);
        fmt::print(streams_.out, "{}", answer.text);
        if (options_.choices.best > 1 && reply.pieces.size() == 1)
          fmt::print(streams_.out, "\t{:.3f}", answer.score);
        fmt::print(streams_.out, "\n");
      }
    }
    for (const std::string& note : reply.notes)
      fmt::print(streams_.err, "attn: {}: {}\n", question.which, note);
    for (const tasks::Piece& piece : reply.pieces)
      maps_.draw(answerer_.model(), piece.answers.front(), piece.steering);
  }

  void print_json(const std::string& text, const tasks::Reply& reply) {
    nlohmann::json line =
        serve::reply_json(answerer_.model(), reply,
                          options_.weights ? serve::Detail::weights : serve::Detail::none);
    line.erase("answers");
    line["text"] = text;
    line["answer"] = reply.answers.front().text;
    fmt::print(streams_.out, "{}\n", line.dump());
  }

  const AnswerOptions& options_;
  const Streams& streams_;
  tasks::Answerer answerer_;
  AnswerMaps maps_;
};

}  // namespace

void add_answer_options(CLI::App& command, const std::string& task, AnswerOptions& options) {
  const tasks::Task& known = tasks::task_named(task);
  command.add_option("--model", options.model, "Model folder, or the name of one that ships")
      ->type_name("DIR");
  add_search_flags(command, options.choices, &known);
  command.add_option("--best", options.choices.best, "Answers of each text; at most the beam")
      ->check(CLI::Range(1, 64));
  command
      .add_option("--temperature", options.choices.temperature,
                  "Above 0: sample words instead of taking the likeliest (with --beam 1)")
      ->check(between(0, 100));
  command
      .add_option("--top", options.choices.top, "Sample from this many likeliest words; 0: all")
      ->check(at_least(0));
  command.add_option("--seed", options.choices.seed, "Random seed for sampling")
      ->check(at_least(0));
  command.add_option("--lines", options.lines, "Lines of standard input answered at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  CLI::Option* json = command.add_flag("--json", options.json, "A JSON object a text");
  command.add_flag("--weights", options.weights, "With --json: tokens, and where each looked")
      ->needs(json);
  add_device_flag(command, options.device, "Where answers are computed");
  add_map_options(command, options.map);
  add_steering_options(command, options.choices.steering);
}

int answer_texts(const std::string& task, const AnswerOptions& options,
                 const std::vector<std::string>& texts, const Streams& streams) {
  if (!fits_together(options, streams)) return usage;
  Answering(task, options, streams).texts(texts);
  return success;
}

int answer_all(const std::string& task, const AnswerOptions& options, const Streams& streams) {
  const auto dashes = std::count(options.texts.begin(), options.texts.end(), "-");
  if (dashes > 0 && options.texts.size() > 1) {
    fmt::print(streams.err, "attn: - is standard input and stands alone; {} texts were given\n",
               options.texts.size());
    return usage;
  }
  if (dashes == 0) return answer_texts(task, options, options.texts, streams);
  if (!fits_together(options, streams)) return usage;
  return Answering(task, options, streams).lines(std::cin) ? success : failure;
}

}  // namespace attn::tools
