// The command of a task that reads sounds: one file after another, words as they are heard.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <stdio.h>  // fileno
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/answer_maps.hpp"
#include "tools/attn/chosen_model.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/draw_map.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

struct SoundOptions {
  std::vector<std::string> files;
  std::int64_t samples = 0;  ///< test examples in the place of files
  std::string model;
  std::map<std::string, std::string> forms;  ///< files to write the card's forms to
  MapOptions map;
  bool json = false;
  int threads = 0;

  bool writes_files() const { return !forms.empty() || !map.file.empty(); }
  bool weights() const { return json || !forms.empty() || map.wanted(); }
};

bool is_terminal(std::FILE* file) {
  const int descriptor = ::fileno(file);
  return descriptor >= 0 && ::isatty(descriptor) != 0;
}

/// How far it is, in one line of a terminal that is redrawn. Where the words come on the same
/// terminal they tell it themselves.
class Share {
 public:
  Share(double seconds, bool quiet, const Streams& streams)
      : err_(streams.err), shown_(!quiet && seconds >= kLong && is_terminal(streams.err)) {}
  ~Share() { clear(); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  void operator()(double done) const {
    if (shown_) fmt::print(err_, "\r\033[Kattn: {:.0f} % is read", 100.0 * done);
    if (shown_) std::fflush(err_);
  }
  void clear() const {
    if (shown_) fmt::print(err_, "\r\033[K");
  }

 private:
  static constexpr double kLong = 60.0;  // seconds

  std::FILE* err_;
  bool shown_;
};

class SoundAnswering {
 public:
  SoundAnswering(const tasks::Task& task, const SoundOptions& options, const Streams& streams)
      : task_(task), options_(options), streams_(streams) {}

  void operator()(const std::string& file) {
    // What is no sound is told before a model is fetched or read.
    const tasks::SoundFile read = tasks::read_sound(file, progress(streams_));
    const tasks::Answerer& answerer = loaded();
    const tasks::Input input(read.sound);
    if (const std::string problem = answerer.refusal(input); !problem.empty())
      fail(files::path_text(file), " ", problem);
    tasks::Reply reply = answer(answerer, input, samples_of(read.sound)->seconds());
    reply.notes.insert(reply.notes.begin(), read.notes.begin(), read.notes.end());
    show(file, input, reply);
  }

  /// A test example of the data.
  void operator()(const tasks::Example& example) {
    const tasks::Answerer& answerer = loaded();
    const tasks::Input input = example.input();
    if (const std::string problem = answerer.refusal(input); !problem.empty())
      fail(example.id, " ", problem);
    tasks::Reply reply = answer(answerer, input, 0.0);
    reply.notes.insert(reply.notes.begin(), "what was said: " + example.targets.front());
    show(example.id, input, reply);
  }

 private:
  void show(const std::string& file, const tasks::Input& input, const tasks::Reply& reply) {
    const tasks::Model& model = loaded().model();
    // A model that answers all at once tells nothing before.
    if (const std::string& text = reply.answers.front().text;
        !options_.json && !told_ && !text.empty())
      fmt::print(streams_.out, "{}\n", text);
    if (options_.json)
      fmt::print(streams_.out, "{}\n",
                 model.line_of(file, input, reply, tasks::Detail::none).dump());
    else
      for (const std::string& note : reply.notes)
        fmt::print(streams_.err, "attn: {}: {}\n", files::path_text(file), note);
    for (const auto& [form, path] : options_.forms)
      files::atomic_write(fs::path(path), task_.form_of(form, reply));
    if (options_.map.wanted()) draw(model, file, input, reply);
  }

  const tasks::Answerer& loaded() {
    if (!answerer_)
      answerer_.emplace(chosen_model(task_, Device::cpu, options_.model, task_.card().shipped(),
                                     "attn " + task_.name(), progress(streams_))
                            .model);
    return *answerer_;
  }

  void draw(const tasks::Model& model, const std::string& file, const tasks::Input& input,
            const tasks::Reply& reply) const {
    maps::Map map = model.map(input, reply.pieces.front(), options_.map.heads);
    const std::string title = files::printable(fs::path(file).filename().string());
    std::visit([&](auto& one) { one.title = title; }, map);
    // Standard output is for the words.
    if (options_.map.show) show_map(map, streams_.err);
    if (options_.map.file.empty()) return;
    if (const std::string note = write_map(map, options_.map.file); !note.empty())
      fmt::print(streams_.err, "attn: {}\n", note);
  }

  tasks::Reply answer(const tasks::Answerer& answerer, const tasks::Input& input,
                      double seconds) {
    told_ = false;
    const bool words_tell = !options_.json && is_terminal(streams_.out);
    const Share share(seconds, words_tell, streams_);
    tasks::Choices choices;
    choices.weights = options_.weights();
    if (!options_.json)
      choices.told = [&](std::string_view line) {
        share.clear();
        told_ = true;
        fmt::print(streams_.out, "{}", line);
        return std::fflush(streams_.out) == 0;
      };
    choices.progress = [&](double done) { share(done); };
    return answerer(input, choices);
  }

  const tasks::Task& task_;
  const SoundOptions& options_;
  const Streams& streams_;
  std::optional<tasks::Answerer> answerer_;
  bool told_ = false;  ///< whether the words were printed as they were heard
};

int answer_sounds(const tasks::Task& task, const SoundOptions& options,
                  const Streams& streams) {
  if (options.threads > 0) ThreadPool::set_default_threads(options.threads);
  if (!options.map.heads.empty() && !options.map.wanted()) {
    fmt::print(streams.err,
               "attn: --heads says what --map or --show draws; give one of them\n"
               "Run with --help for more information.\n");
    return usage;
  }
  for (const auto& [form, path] : options.forms) check_output_file(path);
  if (!options.map.file.empty()) check_map_output(options.map.file);
  SoundAnswering answering(task, options, streams);
  if (options.samples > 0) {
    auto test = task.corpus(task.defaults({}, nullptr).what, progress(streams)).test;
    test.resize(std::min(test.size(), static_cast<std::size_t>(options.samples)));
    for (const tasks::Example& example : test) answering(example);
    return success;
  }
  if (options.files.size() == 1) {
    answering(options.files.front());
    return success;
  }
  bool all = true;
  for (const std::string& file : options.files) try {
      if (&file != &options.files.front() && !options.json) fmt::print(streams.out, "\n");
      answering(file);
    } catch (const Error& error) {
      fmt::print(streams.err, "attn: {}\n", error.what());
      all = false;
    }
  return all ? success : failure;
}

}  // namespace

void add_sound_task(CLI::App& app, const tasks::Task& task, Action& action) {
  auto options = std::make_shared<SoundOptions>();
  const tasks::TaskCard& card = task.card();
  CLI::App* command = app.add_subcommand(card.name, card.title);
  command->footer("\n" + card.help);
  command->add_option(card.argument, options->files, card.argument_help)
      ->type_name(card.argument_type);
  command
      ->add_option("--sample", options->samples,
                   "Answer this many test examples of the data in the place of files")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  const std::string packaged = packaged_names(task);
  command
      ->add_option("--model", options->model,
                   packaged.empty() ? "Model folder, or the name of one that ships"
                                    : "One of " + packaged +
                                          " (the first where none is named), "
                                          "a model folder, or the name of one that ships")
      ->type_name("MODEL");
  for (const auto& form : card.forms)
    command
        ->add_option_function<std::string>(
            "--" + form.name,
            [options, name = form.name](const std::string& path) {
              options->forms[name] = path;
            },
            form.help)
        ->type_name("FILE." + form.name);
  command
      ->add_option("--map", options->map.file,
                   "Draw where in the sound each word was heard: .svg, .pdf, .png or .json")
      ->type_name("FILE")
      ->check(map_file_problem);
  command->add_flag("--show", options->map.show,
                    "Print the same as a heat map on standard error");
  if (!card.heads_help.empty())
    command->add_option("--heads", options->map.heads, card.heads_help)
        ->type_name("all")
        ->check(CLI::IsMember({"all"}));
  command->add_flag("--json", options->json,
                    "Print a JSON object for each file, with the times of all words");
  add_threads_flag(*command, options->threads);
  command->callback([options, &task, &action] {
    if (options->files.empty() && options->samples == 0)
      throw CLI::RequiredError(task.card().argument);
    if (!options->files.empty() && options->samples > 0)
      throw CLI::ValidationError("--sample stands in the place of files; give one of the two");
    const std::size_t sounds =
        std::max(options->files.size(), static_cast<std::size_t>(options->samples));
    if (sounds > 1 && options->writes_files())
      throw CLI::ValidationError(
          fmt::format("what is written to a file is of one sound; {} were given", sounds));
    action = [options, &task](const Streams& streams) {
      return answer_sounds(task, *options, streams);
    };
  });
}

}  // namespace attn::tools
