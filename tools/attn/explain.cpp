// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/look.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/text/unicode.hpp"
#include "tools/attn/answer_maps.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/training_flags.hpp"
#include "tools/serve/answers.hpp"
#include "tools/serve/live.hpp"
#include "tools/serve/offline.hpp"

namespace attn::tools {
namespace {

struct ExplainOptions {
  std::string task;
  std::string text;
  std::string html;
  std::string model;
  std::int64_t beam = 0;  ///< 0: the task's
  std::int64_t best = 1;
  models::Look look;
  Device device = Device::cpu;
};

int explain(const ExplainOptions& options, const Streams& streams) {
  check_device(options.device, "attn explain");
  const tasks::Task& task = tasks::task_named(options.task);
  if (!text::is_utf8(options.text))
    fail("the text is not UTF-8: ", files::in_quotes(options.text),
         "; convert it first, for example with iconv");
  if (text::normalise(options.text).empty()) fail("the text is empty; there is nothing to do");
  // Before the model is asked: without a page there is nothing to write it into.
  serve::offline_page({});
  check_output_file(options.html);
  const tasks::PairModel model =
      load_model_on(options.device, model_folder(options.model, options.task), "attn explain");
  if (model.task != options.task)
    fail(options.model, " is a model for ", model.task, ", not for ", options.task);

  models::SearchOptions search = task.search;
  search.look = options.look;
  search.best = options.best;
  search.beam = options.beam > 0 ? options.beam : std::max(search.beam, options.best);
  auto answers = serve::answers_json(model, options.text, search, serve::Heads::yes);
  const std::string first = answers.at(0).at("text");
  auto live = nlohmann::json::array();
  for (const serve::LiveExample& example : serve::live_examples())
    live.push_back({{"example", serve::live_json(example)}, {"map", serve::live_map(example)}});
  const std::string page =
      serve::offline_page({{"task", options.task},
                           {"model", options.model.empty() ? "shipped" : options.model},
                           {"text", options.text},
                           {"answers", std::move(answers)},
                           {"live", std::move(live)}});
  files::atomic_write(options.html, page);
  fmt::print(streams.out, "{}\n", first);
  return success;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand(
      "explain", "One HTML file that shows an answer and what the model looked at");
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
  command->add_option("text", options->text, "What is asked")->required()->type_name("TEXT");
  command->add_option("--html", options->html, "The file to write")
      ->required()
      ->type_name("FILE");
  command->add_option("--model", options->model, "Model folder, or the name of one that ships")
      ->type_name("DIR");
  command
      ->add_option("--beam", options->beam,
                   "Hypotheses that are followed; 1 is greedy; default: the task's")
      ->check(CLI::Range(1, 64));
  command->add_option("--best", options->best, "Answers to show; at most the beam")
      ->check(CLI::Range(1, 64));
  add_device_flag(*command, options->device, "Where the answer is computed");
  add_look_options(*command, options->look);
  command->callback([options, &action] {
    if (options->beam > 0 && options->best > options->beam)
      throw CLI::ValidationError(
          fmt::format("--best {} is more than --beam {} finds; at most the beam is accepted",
                      options->best, options->beam));
    action = [options](const Streams& streams) { return explain(*options, streams); };
  });
}

}  // namespace attn::tools
