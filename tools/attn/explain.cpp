// attn explain: an answer with its attention as one HTML file.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/answer_maps.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/pictures.hpp"
#include "tools/attn/search_flags.hpp"
#include "tools/attn/training_flags.hpp"
#include "tools/attn/turns.hpp"
#include "tools/serve/offline.hpp"

namespace attn::tools {
namespace {

struct ExplainOptions {
  std::string task;
  std::vector<std::string> texts;  ///< one, or the parts of an input, or turns
  std::string html;
  std::string model;
  tasks::Choices choices;
  Device device = Device::cpu;
};

tasks::Input input_of(const tasks::TaskCard& card, const std::vector<std::string>& texts) {
  if (card.reads == tasks::TaskCard::Reads::parts && texts.size() == card.parts.size()) {
    tasks::Input input;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (card.parts[i].picture)
        input.parts.emplace(card.parts[i].name, read_picture(texts[i]));
      else
        input.parts.emplace(card.parts[i].name, texts[i]);
    }
    return input;
  }
  if (card.reads == tasks::TaskCard::Reads::turns) return input_of_turns(texts);
  if (card.reads != tasks::TaskCard::Reads::parts && texts.size() == 1) return texts.front();
  std::string names;
  for (const auto& part : card.parts) names += (names.empty() ? "" : ", ") + part.name;
  fail("attn explain: ", texts.size(), texts.size() == 1 ? " text was" : " texts were",
       " given; ", card.name, " reads ", names.empty() ? "one" : names,
       names.empty() ? " (put it in quotes)" : "");
}

int explain(const ExplainOptions& options, const Streams& streams) {
  check_device(options.device, "attn explain");
  const tasks::Task& task = tasks::task_named(options.task);
  if (task.card().reads == tasks::TaskCard::Reads::pictures) {
    throw InvalidArgument("attn explain shows answers to texts, and " + options.task +
                          " reads pictures: attn " + options.task +
                          " FILE --map FILE.svg draws what it looked at");
  }
  const tasks::Input input = input_of(task.card(), options.texts);
  // Before the model is asked: without a page there is nothing to write it into.
  serve::offline_page({});
  check_output_file(options.html);
  const std::string shipped = task.card().directions.empty()
                                  ? task.card().shipped()
                                  : tasks::direction_of(task.card(), {}, input.text()).model;
  const tasks::Answerer answerer(load_model_of(
      task, options.device, model_folder(options.model, shipped), "attn explain"));

  const tasks::Reply reply = answerer(input, options.choices);
  const std::string model = options.model.empty() ? "shipped" : options.model;
  files::atomic_write(options.html,
                      serve::offline_page(serve::offline_data(answerer, model, input, reply)));
  fmt::print(streams.out, "{}\n", reply.answers.front().text);
  for (const std::string& note : reply.notes) fmt::print(streams.err, "attn: {}\n", note);
  return success;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Write an answer and its attention as one HTML file");
  command->footer(
      "\nThe file holds the page, the answer, its alignment, every head, and the mechanisms "
      "on\n"
      "small examples. It opens without a server and without a network, and can be sent to\n"
      "others. The answer itself is printed.\n"
      "\nExamples:\n"
      "    attn explain translate \"a fast web server\" --html server.html\n"
      "    attn explain pronounce attention --best 3 --html attention.html\n"
      "    attn explain translate \"It is fast.\" --forbid 2 --html without.html");
  add_task_argument(*command, options->task);
  command
      ->add_option("text", options->texts,
                   "The text to answer, or the parts of what the task reads")
      ->required()
      ->type_name("TEXT");
  command->add_option("--html", options->html, "HTML file to write")
      ->required()
      ->type_name("FILE");
  command->add_option("--model", options->model, "Model folder, or the name of one that ships")
      ->type_name("DIR");
  add_search_flags(*command, options->choices);
  command
      ->add_option("--best", options->choices.best,
                   "Number of answers to show, at most the beam")
      ->check(CLI::Range(1, 64));
  add_device_flag(*command, options->device, "Device that computes the answer");
  add_steering_options(*command, options->choices.steering);
  command->callback([options, &action] {
    if (const std::string problem = misuse(options->choices); !problem.empty())
      throw CLI::ValidationError(problem);
    action = [options](const Streams& streams) { return explain(*options, streams); };
  });
}

}  // namespace attn::tools
