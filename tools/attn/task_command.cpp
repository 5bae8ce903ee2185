// The command of a task, made of what the task tells of itself: texts, files or pictures in,
// answers out.

#include <fmt/core.h>
#include <sys/poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/text/unicode.hpp"
#include "tools/attn/answer_maps.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/interrupt.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/pictures.hpp"
#include "tools/attn/png.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/search_flags.hpp"
#include "tools/attn/training_flags.hpp"
#include "tools/attn/turns.hpp"

namespace attn::tools {
namespace {

using Reads = tasks::TaskCard::Reads;

constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;
constexpr const char* kOfLines = "-";
/// The line that begins a dialogue anew.
constexpr const char* kAnew = ":new";
constexpr std::size_t kLabelsShown = 5;

struct TaskOptions {
  std::vector<std::string> arguments;  ///< texts or files; "-" is standard input, a line each
  std::string text;                    ///< of a task that reads files: the text itself
  std::string model;
  std::string variant;
  tasks::WantedLanguages languages;
  tasks::Choices choices;
  MapOptions map;
  int lines = 64;
  bool json = false;
  bool weights = false;
  int threads = 0;
  std::int64_t samples = 0;
  std::string save_samples;
  std::map<std::string, std::string> wishes;  ///< TaskCard::wishes by name; "": none
  std::string out;                            ///< the file of a picture that is painted
  Device device = Device::cpu;
};

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

/// "PREMISE HYPOTHESIS".
std::string words_of(const tasks::TaskCard& card) {
  std::string words;
  for (const auto& part : card.parts) {
    words += words.empty() ? "" : " ";
    for (const char c : part.name) words += static_cast<char>(std::toupper(c));
  }
  return words;
}

/// Test examples have pictures that can be shown and saved.
bool has_pictures(const tasks::TaskCard& card) {
  return card.reads == Reads::pictures ||
         std::any_of(card.parts.begin(), card.parts.end(),
                     [](const auto& part) { return part.picture; });
}

/// What is wrong with the flags together, before a model is loaded; "": nothing.
std::string problem_with(const TaskOptions& options, const tasks::TaskCard& card) {
  const auto& given = options.arguments;
  if (!options.map.heads.empty() && !options.map.wanted())
    return "--heads says what --map or --show draws; give one of them";
  if (card.reads == Reads::pictures && !card.from_nothing && given.empty() &&
      options.samples == 0)
    return "no picture is named; give PNG, JPEG or GIF files, or --sample 5 for test examples";
  if (card.reads == Reads::files && given.empty() && options.text.empty())
    return "name a file, - or --text TEXT";
  const bool of_lines = given.size() == 1 && given.front() == kOfLines;
  const bool only_samples = options.samples > 0 && given.empty();
  if (card.reads == Reads::parts && given.size() != card.parts.size() && !of_lines &&
      !only_samples)
    return fmt::format("{} words were given; {} are accepted, or - for lines of them with tabs",
                       given.size(), words_of(card));
  if (card.reads != Reads::pictures && given.size() > 1 &&
      std::count(given.begin(), given.end(), kOfLines) > 0)
    return fmt::format("- is standard input and stands alone; {} texts were given",
                       given.size());
  const tasks::WantedLanguages& wanted = options.languages;
  if (!wanted.from.empty() && wanted.from == wanted.to)
    return fmt::format(
        "--from and --to are both {}; a text is translated into another language", wanted.from);
  if (options.model.empty() && !wanted.from.empty()) try {
      tasks::direction_of(card, wanted, "");
    } catch (const InvalidArgument& error) {
      return error.what();
    }
  const auto leads_there = [&](const auto& direction) { return direction.to == wanted.to; };
  if (options.model.empty() && !wanted.to.empty() &&
      std::none_of(card.directions.begin(), card.directions.end(), leads_there))
    return fmt::format("there is no model into \"{}\"; --model names one of your own",
                       wanted.to);
  return misuse(options.choices);
}

/// A word that looks like the name of a file: "a/b", "c.txt".
bool looks_like_file(const std::string& word) {
  return word.find('/') != std::string::npos ||
         std::filesystem::path(word).extension().string().size() > 1;
}

/// Text that was given in the place of a file: it has a space, or is a word where the task
/// takes those, and no file is called so.
bool is_text(const std::string& argument, bool takes_words) {
  std::error_code ignored;
  return (argument.find_first_of(" \t\n") != std::string::npos ||
          (takes_words && !looks_like_file(argument))) &&
         !std::filesystem::exists(argument, ignored);
}

std::string text_of(const std::string& argument, const tasks::TaskCard& card) {
  const bool is_part = card.reads == Reads::parts;
  if (is_text(argument, card.takes_words) || (is_part && argument.empty())) return argument;
  std::error_code ignored;
  if (!std::filesystem::exists(argument, ignored))
    fail<FileError>(files::in_quotes(argument),
                    " cannot be opened: there is no such file; a text ",
                    is_part ? "has several words, or is a part of a line of standard input "
                              "with -"
                            : "is given with --text, or as lines of standard input with -");
  return files::read_text(argument, kLargestFile);
}

/// A word as the part of an input.
tasks::Value value_of(const tasks::TaskCard::Part& part, const std::string& word,
                      const tasks::TaskCard& card) {
  if (part.picture) return read_picture(word);
  return part.file ? text_of(word, card) : word;
}

/// The parts of a line, between tabs, as many as the task has; the last one takes the rest. A
/// text is not the name of a file; a picture always is.
tasks::Input input_of_line(const tasks::TaskCard& card, const std::string& line) {
  if (card.reads == Reads::turns) return input_of_turns(line);
  if (card.reads != Reads::parts) return line;
  tasks::Input input;
  std::size_t begin = 0;
  for (const auto& part : card.parts) {
    const bool last = &part == &card.parts.back();
    const std::size_t end = last ? line.size() : std::min(line.find('\t', begin), line.size());
    const std::string word = line.substr(begin, end - begin);
    if (!part.picture)
      input.parts.emplace(part.name, word);
    else if (!word.empty())
      input.parts.emplace(part.name, read_picture(word));
    begin = std::min(end + 1, line.size());
  }
  return input;
}

/// An input with its name in messages.
struct Question {
  tasks::Input input;
  std::string which;      ///< "text 3", "line 7 of standard input"
  std::string name{};     ///< of its file
  std::string label{};    ///< what its line of the output begins with
  std::string truth{};    ///< the right answer to a sample
  std::string problem{};  ///< why it is not answered; "": it is
  const tasks::Answerer* answerer = nullptr;

  bool is_blank() const {
    return !input.parts.empty() &&
           std::all_of(input.parts.begin(), input.parts.end(), [](const auto& part) {
             const auto* text = std::get_if<std::string>(&part.second);
             return text != nullptr && files::is_utf8(*text) && text::normalise(*text).empty();
           });
  }
};

/// The model that is named, or the one that ships under this name.
std::shared_ptr<const tasks::Model> model_of(const tasks::Task& task,
                                             const TaskOptions& options,
                                             const std::string& shipped) {
  const std::string command = "attn " + task.name();
  if (options.model.empty())
    if (auto taken = taken_model_of(task, options.device, options.variant, command))
      return taken;
  const std::string folder = model_folder(options.model, shipped);
  auto model = load_model_of(task, options.device, folder, command);
  const tasks::WantedLanguages& wanted = options.languages;
  if (!options.model.empty() && !wanted.from.empty() && model->languages().from != wanted.from)
    fail("the model in ", folder, " does not translate from ", wanted.from);
  if (!options.variant.empty() && model->variant() != options.variant)
    fail("the model in ", folder, " has --", task.card().variant_flag, " ", model->variant(),
         ", not ", options.variant);
  return model;
}

class Answering {
 public:
  Answering(const tasks::Task& task, const TaskOptions& options, const Streams& streams)
      : card_(task.card()),
        options_(options),
        choices_(options.choices),
        streams_(streams),
        task_(task),
        // What reads JSON from the output would trip over a heat map.
        maps_(options.map, options.json ? streams.err : streams.out) {
    choices_.weights = options.weights || options.map.wanted();
    // Before a line is read: a model that is not there is told at once.
    if (!options.model.empty() || card_.directions.empty())
      only_ = &answerer_named(card_.shipped(options.variant));
  }

  /// All of them, or none and an error that names the first that is refused.
  void all(std::vector<Question> questions) {
    alone_ = questions.size() == 1;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      Question& one = questions[i];
      if (one.which.empty()) one.which = card_.noun() + " " + std::to_string(i + 1);
      if (card_.echo) one.label = one.input.text();
      find_model(one);
      if (const std::string problem = one.answerer->refusal(one.input); !problem.empty())
        fail(one.which, " ", problem);
    }
    if (task_.writing() != nullptr && !options_.json && questions.size() == 1)
      print_while_written();
    answer(questions);
  }

  /// Whether all lines could be answered.
  bool lines(std::istream& in) {
    one_line_each_ = true;
    bool all = true;
    std::vector<Question> waiting;
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      Question& one = waiting.emplace_back(
          Question{{}, "line " + std::to_string(number) + " of standard input"});
      try {
        one.input = input_of_line(card_, line);
        one.problem = problem_of(one, line.size());
      } catch (const FileError& error) {  // of a picture that the line names
        one.problem = std::string("is not answered: ") + error.what();
      }
      all = all && one.problem.empty();
      // Whoever writes a line and waits for its answer gets it; a file is read in batches.
      if (waiting.size() < static_cast<std::size_t>(options_.lines) && more_waits(in)) continue;
      answer(waiting);
      waiting.clear();
    }
    answer(waiting);
    check_end(in);
    return all;
  }

  /// A dialogue that goes on: a line is a turn, and each is replied to with all that was said
  /// before in mind. Whether all could be replied to.
  bool dialogue(std::istream& in) {
    one_line_each_ = true;
    const bool asks = &in == &std::cin && ::isatty(STDIN_FILENO) == 1;
    if (asks) fmt::print(streams_.err, "{} begins anew; Ctrl-D ends\n", kAnew);
    bool all = true;
    std::vector<std::string> turns;
    std::string line;
    for (std::size_t number = 1; next_turn(in, asks, line); ++number) {
      if (line == kAnew) {
        turns.clear();
        continue;
      }
      Question one{input_of_turns(std::string_view(line)),
                   "line " + std::to_string(number) + " of standard input"};
      if (!one.is_blank()) {
        turns.push_back(line);
        one.input = input_of_turns(turns);
      }
      one.problem = problem_of(one, line.size());
      all = all && one.problem.empty();
      const std::string reply = answer({one});
      if (!one.problem.empty()) turns.pop_back();
      if (!reply.empty()) turns.push_back(reply);
    }
    check_end(in);
    return all;
  }

 private:
  /// Whether there is one; a person is asked for it.
  bool next_turn(std::istream& in, bool asks, std::string& line) const {
    if (asks) {
      fmt::print(streams_.out, "> ");
      std::fflush(streams_.out);
    }
    if (!std::getline(in, line)) return false;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
  }

  /// Ctrl-C ends the text, not the program.
  void print_while_written() {
    written_ = true;
    choices_.told = [this, interrupt = Interrupt()](std::string_view part) {
      fmt::print(streams_.out, "{}", part);
      std::fflush(streams_.out);
      return !interrupt.asked();
    };
  }

  std::string problem_of(Question& line, std::size_t bytes) {
    if (bytes > kLongestLine)
      return fmt::format("has {} bytes; at most {} are read", bytes, kLongestLine);
    if (line.is_blank()) return "";
    try {
      find_model(line);
    } catch (const InvalidArgument& error) {
      return fmt::format("is not answered: {}", error.what());
    }
    return line.answerer->refusal(line.input);
  }

  const tasks::Answerer& answerer_named(const std::string& shipped) {
    auto& answerer = answerers_[shipped];
    if (!answerer)
      answerer = std::make_unique<tasks::Answerer>(model_of(task_, options_, shipped));
    return *answerer;
  }

  /// Of a task with languages the text decides which model answers.
  void find_model(Question& question) {
    question.answerer = only_;
    if (card_.directions.empty()) return;
    std::string to = options_.languages.to;
    if (only_ == nullptr) {
      const auto& direction =
          tasks::direction_of(card_, options_.languages, question.input.text());
      question.answerer = &answerer_named(direction.model);
      to = direction.to;
    }
    if (!to.empty()) question.input.parts["to"] = to;
  }

  /// Whether there is nothing to answer. A text may be written from nothing; a line is then
  /// only empty.
  bool is_nothing(const Question& question) const {
    return question.is_blank() && (one_line_each_ || task_.writing() == nullptr);
  }

  /// The text of the last answer; "" where there is none.
  std::string answer(const std::vector<Question>& questions) {
    std::map<const tasks::Answerer*, std::vector<tasks::Input>> inputs;
    for (const Question& one : questions)
      if (one.problem.empty() && !is_nothing(one)) inputs[one.answerer].push_back(one.input);
    std::map<const tasks::Answerer*, std::vector<tasks::Reply>> replies;
    std::map<const tasks::Answerer*, std::size_t> next;
    for (const auto& [answerer, own] : inputs)
      replies[answerer] = (*answerer)(own, choices_, told_on(streams_.err));
    std::string last;
    for (const Question& one : questions) {
      last.clear();
      if (!one.problem.empty()) {
        print_problem(one);
      } else if (is_nothing(one)) {
        tasks::Reply nothing;
        nothing.answers.emplace_back().finished = true;
        print(one, nothing);
      } else {
        const tasks::Reply& reply = replies[one.answerer][next[one.answerer]++];
        print(one, reply);
        last = reply.answers.front().text;
      }
    }
    std::fflush(streams_.out);
    return last;
  }

  /// A line of the output still belongs to each line of the input.
  void print_problem(const Question& question) {
    const std::string message = question.which + " " + question.problem;
    fmt::print(streams_.err, "attn: {}\n", message);
    fmt::print(streams_.out, "{}\n",
               options_.json ? nlohmann::json{{"error", message}}.dump() : "");
  }

  void print(const Question& question, const tasks::Reply& reply) {
    if (options_.json) {
      nlohmann::json line = line_of(question, reply);
      if (!question.truth.empty()) line["right"] = question.truth;
      fmt::print(streams_.out, "{}\n", line.dump());
    } else {
      print_answers(question, reply);
    }
    if (!options_.out.empty()) write_painting(reply);
    for (const std::string& note : reply.notes)
      fmt::print(streams_.err, "attn: {}: {}\n", question.which, note);
    for (const tasks::Piece& piece : reply.pieces)
      if (const std::string note =
              maps_.draw(question.answerer->model(), question.input, piece);
          !note.empty())
        fmt::print(streams_.err, "attn: {}\n", note);
  }

  void write_painting(const tasks::Reply& reply) const {
    const tasks::Answer& answer = reply.answers.front();
    const auto* picture =
        answer.output ? std::get_if<tasks::Picture>(&*answer.output) : nullptr;
    if (picture == nullptr)
      fail("there is no picture in the answer; --out has nothing to write");
    write_png(options_.out, picture->pixels, picture->width, picture->height);
  }

  nlohmann::json line_of(const Question& question, const tasks::Reply& reply) {
    // A blank line is nobody's question; any model tells that it has no answer.
    const tasks::Answerer& answerer = question.answerer != nullptr ? *question.answerer
                                      : only_ != nullptr
                                          ? *only_
                                          : answerer_named(card_.directions.front().model);
    return answerer.model().line_of(
        question.name, question.input, reply,
        options_.weights ? tasks::Detail::weights : tasks::Detail::none);
  }

  void print_answers(const Question& question, const tasks::Reply& reply) {
    if (written_) {
      fmt::print(streams_.out, "\n");
      return;
    }
    for (const tasks::Answer& answer : reply.answers) {
      if (!question.label.empty() && card_.paints) {
        if (!alone_) fmt::print(streams_.out, "{}\n", question.label);
      } else if (!question.label.empty()) {
        fmt::print(streams_.out, "{}\t", question.label);
      }
      std::string text = answer.text;
      if (one_line_each_) std::replace(text.begin(), text.end(), '\n', ' ');
      fmt::print(streams_.out, "{}", text);
      if (options_.choices.best > 1 && reply.pieces.size() == 1)
        fmt::print(streams_.out, "\t{:.3f}", answer.score);
      if (!question.truth.empty() && question.truth != answer.text)
        fmt::print(streams_.out, "\t(right: {})", question.truth);
      fmt::print(streams_.out, "\n");
      const bool details = question.label.empty() || (alone_ && answer.table);
      if (one_line_each_ || !details) continue;
      print_labels(answer);
      if (answer.table) print_table(*answer.table);
    }
  }

  /// How likely the likeliest labels are, below the one that was chosen.
  void print_labels(const tasks::Answer& answer) {
    const auto* labels = answer.output ? std::get_if<tasks::Labels>(&*answer.output) : nullptr;
    if (labels == nullptr || labels->empty()) return;
    const char* before = "";
    for (std::size_t i = 0; i < std::min(labels->size(), kLabelsShown); ++i) {
      fmt::print(streams_.out, "{}{} {:.3f}", before, (*labels)[i].name, (*labels)[i].score);
      before = "  ";
    }
    fmt::print(streams_.out, "\n");
  }

  /// Columns between two spaces, each as wide as its widest cell.
  void print_table(const tasks::Table& table) const {
    std::vector<std::vector<std::string>> lines{table.columns};
    for (const auto& row : table.rows) {
      std::vector<std::string>& cells = lines.emplace_back();
      for (const tasks::Table::Cell& cell : row)
        cells.push_back(std::holds_alternative<double>(cell)
                            ? fmt::format("{:.3f}", std::get<double>(cell))
                            : files::printable(std::get<std::string>(cell)));
    }
    if (table.rows.empty()) return;
    std::vector<std::size_t> widths(table.columns.size(), 0);
    for (const auto& cells : lines)
      for (std::size_t i = 0; i < cells.size(); ++i)
        widths[i] = std::max(widths[i], text::code_points(cells[i]).size());
    for (const auto& cells : lines) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        line += (i == 0 ? "" : "  ") + cells[i];
        const std::size_t wide = text::code_points(cells[i]).size();
        if (i + 1 < cells.size()) line.append(widths[i] - wide, ' ');
      }
      fmt::print(streams_.out, "{}\n", line);
    }
  }

  const tasks::TaskCard& card_;
  const TaskOptions& options_;
  tasks::Choices choices_;
  const Streams& streams_;
  const tasks::Task& task_;
  std::map<std::string, std::unique_ptr<const tasks::Answerer>> answerers_;
  const tasks::Answerer* only_ = nullptr;  ///< of all questions; null: each has its own
  AnswerMaps maps_;
  bool one_line_each_ = false;  ///< a line of the output for each line of the input
  bool alone_ = false;          ///< there is one question
  bool written_ = false;        ///< the text was printed while it was written
};

std::vector<Question> with_wishes(std::vector<Question> questions, const TaskOptions& options) {
  for (Question& question : questions)
    for (const auto& [name, text] : options.wishes)
      if (!text.empty()) question.input.parts[name] = text;
  return questions;
}

/// Test examples, of the variant that is asked for.
std::vector<Question> sampled(const tasks::Task& task, const TaskOptions& options,
                              const Streams& streams) {
  nlohmann::json asked = nlohmann::json::object();
  for (const tasks::Setting& setting : task.settings()) {
    if (options.variant.empty() || setting.flag != task.card().variant_flag) continue;
    std::string path = "/" + setting.member;
    std::replace(path.begin(), path.end(), '.', '/');
    asked[nlohmann::json::json_pointer(path)] = options.variant;
  }
  std::vector<tasks::Example> samples =
      task.corpus(task.defaults(asked, nullptr).what, progress(streams)).test;
  samples.resize(std::min(samples.size(), static_cast<std::size_t>(options.samples)));
  std::vector<Question> questions;
  for (const tasks::Example& sample : samples) {
    std::string label = picture_file(sample);
    for (const std::string& text : texts_beside(sample)) label += "\t" + text;
    questions.push_back(
        {sample.input(), "", picture_file(sample), label, sample.targets.front()});
  }
  if (!options.save_samples.empty()) save_pictures(options.save_samples, samples);
  return questions;
}

std::vector<Question> questions_of(const tasks::Task& task, const TaskOptions& options,
                                   const Streams& streams) {
  std::vector<Question> questions;
  if (!options.text.empty()) return {Question{options.text, ""}};
  if (task.card().reads == Reads::parts && !options.arguments.empty()) {
    tasks::Input input;
    for (std::size_t i = 0; i < options.arguments.size(); ++i) {
      const auto& part = task.card().parts[i];
      const std::string& word = options.arguments[i];
      input.parts.emplace(part.name, value_of(part, word, task.card()));
    }
    questions.push_back(Question{std::move(input), "the input"});
  }
  if (task.card().reads == Reads::turns)
    return {Question{input_of_turns(options.arguments), "the dialogue"}};
  for (const std::string& argument : options.arguments) {
    switch (task.card().reads) {
      case Reads::texts:
        questions.push_back({argument, ""});
        break;
      case Reads::files:
        questions.push_back({text_of(argument, task.card()), ""});
        break;
      case Reads::pictures:
        questions.push_back({read_picture(argument), "", argument, argument});
        break;
      case Reads::parts:
      case Reads::turns:
      case Reads::sounds:
        break;  // above, and in a command of its own
    }
  }
  if (task.card().from_nothing && questions.empty() && options.samples == 0)
    questions.push_back({tasks::Input(), "the " + task.card().noun()});
  if (options.samples == 0) return with_wishes(std::move(questions), options);
  std::vector<Question> samples = sampled(task, options, streams);
  std::move(samples.begin(), samples.end(), std::back_inserter(questions));
  return questions;
}

int run_task(const tasks::Task& task, const TaskOptions& options, const Streams& streams) {
  const std::string command = "attn " + task.name();
  if (const std::string problem = problem_with(options, task.card()); !problem.empty()) {
    fmt::print(streams.err, "attn: {}\nRun with --help for more information.\n", problem);
    return usage;
  }
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  check_device(options.device, command);  // before a folder is looked for
  if (!options.map.file.empty()) check_map_output(options.map.file);
  if (!options.out.empty()) check_output_file(options.out);
  if (!options.save_samples.empty()) check_output_folder(options.save_samples);
  const bool lines = task.card().reads != Reads::pictures && options.arguments.size() == 1 &&
                     options.arguments.front() == kOfLines;
  if (lines) return Answering(task, options, streams).lines(std::cin) ? success : failure;
  if (!options.out.empty() &&
      options.arguments.size() + static_cast<std::size_t>(options.samples) > 1) {
    fmt::print(streams.err, "attn: --out is one file; one picture is painted into it\n");
    return usage;
  }
  if (task.card().reads == Reads::turns && options.arguments.empty())
    return Answering(task, options, streams).dialogue(std::cin) ? success : failure;
  std::vector<Question> questions = questions_of(task, options, streams);
  Answering(task, options, streams).all(std::move(questions));
  return success;
}

void add_input_options(CLI::App& command, const tasks::Task& task, TaskOptions& options) {
  const tasks::TaskCard& card = task.card();
  std::string help = card.argument_help;
  if (card.reads == Reads::parts) {
    help = words_of(card) + ", or - for lines of them with tabs between";
    for (const auto& part : card.parts) help += "\n" + part.name + ": " + part.help;
  }
  CLI::Option* given = command.add_option(card.argument, options.arguments, help)
                           ->type_name(card.argument_type)
                           ->required(card.reads == Reads::texts ||
                                      (card.reads == Reads::parts && !has_pictures(card)));
  if (card.reads == Reads::files)
    command.add_option("--text", options.text, "The text itself, in place of a file")
        ->excludes(given);
  if (has_pictures(card) && !card.paints) {
    CLI::Option* sample =
        command.add_option("--sample", options.samples, "Answer this many test examples")
            ->check(CLI::Range(1, 5000));
    command
        .add_option("--save-samples", options.save_samples,
                    "Write the sampled pictures as PNG files, with a list of what is right")
        ->type_name("DIR")
        ->needs(sample);
  }
  if (card.reads != Reads::pictures) {
    command.add_option("--lines", options.lines, "Lines of standard input to answer at a time")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20));
  }
  command.add_option("--model", options.model, "Model folder, or the name of one that ships")
      ->type_name("DIR")
      ->required(!card.ships);
  std::vector<std::string> known = card.variants;
  std::string taken;
  for (const std::string& variant : task.taken_variants()) {
    known.push_back(variant);
    taken += "; " + variant + " behind attn data " + card.name + " --from FOLDER";
  }
  if (!card.directions.empty()) {
    std::string pairs;
    for (const auto& one : card.directions)
      pairs += (pairs.empty() ? "" : ", ") + one.from + "-" + one.to;
    command
        .add_option("--from", options.languages.from,
                    "Language of the texts; default: by their script")
        ->type_name("LANGUAGE");
    command
        .add_option(
            "--to", options.languages.to,
            "Language of the answers; default: the first of these pairs that fits\n" + pairs)
        ->type_name("LANGUAGE");
  }
  if (!card.variants.empty())
    command
        .add_option("--" + card.variant_flag, options.variant,
                    "Model that ships; default " + card.variants.front() + taken)
        ->check(CLI::IsMember(known));
}

/// Of a task that searches for its answers: what is searched for, and where it may look.
void add_choice_options(CLI::App& command, const tasks::Task& task, TaskOptions& options) {
  add_search_flags(command, options.choices, &task);
  command
      .add_option("--best", options.choices.best,
                  "Number of answers for each text, at most the beam")
      ->check(CLI::Range(1, 64));
  command
      .add_option("--temperature", options.choices.temperature,
                  "Sampling temperature: above 0, sample tokens instead of taking the "
                  "likeliest (with --beam 1)")
      ->check(between(0, 100));
  command
      .add_option("--top", options.choices.top,
                  "Sample from this many likeliest tokens; 0: all")
      ->check(at_least(0));
  command.add_option("--seed", options.choices.seed, "Random seed for sampling")
      ->check(at_least(0));
  command
      .add_flag("--weights", options.weights,
                "With --json: print tokens and attention weights too")
      ->needs(command.get_option("--json"));
  if (!task.card().steers) return;
  add_heads_option(command, options.map);
  add_steering_options(command, options.choices.steering);
}

/// Of a task that writes on, token by token.
void add_writing_options(CLI::App& command, const tasks::Writing& writing,
                         TaskOptions& options) {
  tasks::Choices& choices = options.choices;
  choices.beam = 1;
  choices.temperature = writing.temperature;
  choices.top_p = writing.top_p;
  command
      .add_option("--tokens", choices.tokens,
                  fmt::format("Tokens to write at most; default {}", writing.tokens))
      ->check(CLI::Range(std::int64_t{1}, writing.most_tokens));
  command
      .add_option("--temperature", choices.temperature,
                  "0 takes the likeliest token each time; higher draws less likely ones, too")
      ->capture_default_str()
      ->check(between(0, 100));
  command.add_option("--top", choices.top, "Draw from this many likeliest tokens; 0: all")
      ->check(at_least(0));
  command
      .add_option("--top-p", choices.top_p,
                  "Draw from the likeliest tokens that together have this probability")
      ->capture_default_str()
      ->check(between(0, 1));
  command.add_option("--seed", choices.seed, "Random seed for drawing")->check(at_least(0));
  command.add_option("--beam", choices.beam, "1: a text is written token by token")
      ->check(CLI::Range(1, 1));
  command
      .add_flag("--weights", options.weights,
                "With --json: print tokens and attention weights too")
      ->needs(command.get_option("--json"));
  add_heads_option(command, options.map);
}

}  // namespace

void add_task(CLI::App& app, const tasks::Task& task, Action& action) {
  const tasks::TaskCard& card = task.card();
  if (card.reads == Reads::sounds) return add_sound_task(app, task, action);
  auto options = std::make_shared<TaskOptions>();
  CLI::App* command = app.add_subcommand(card.name, card.title);
  command->footer("\n" + card.help);
  add_input_options(*command, task, *options);
  for (const tasks::TaskCard::Part& wish : card.wishes)
    command->add_option("--" + wish.name, options->wishes[wish.name], wish.help)
        ->type_name("NUMBER");
  if (card.paints)
    command->add_option("--out", options->out, "Write the picture of the answer")
        ->type_name("FILE.png");
  command->add_flag("--json", options->json, "Print a JSON object for each " + card.noun());
  add_threads_flag(*command, options->threads);
  add_device_flag(*command, options->device, "Device that computes the answers");
  add_map_options(*command, options->map);
  if (task.search() != nullptr) {
    add_choice_options(*command, task, *options);
  } else if (!card.heads_help.empty()) {
    command->add_option("--heads", options->map.heads, card.heads_help)
        ->type_name("all")
        ->check(CLI::IsMember({"all"}));
  }
  if (task.writing() != nullptr) add_writing_options(*command, *task.writing(), *options);
  command->callback([options, &task, &action] {
    action = [options, &task](const Streams& streams) {
      return run_task(task, *options, streams);
    };
  });
}

}  // namespace attn::tools
