// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "attn/files/printable.hpp"
#include "attn/tasks/pair_model.hpp"
#include "tools/attn/answering.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

/// Pairs that are too long are not learnt from, so a text that is too long is not answered.
std::string too_long(const tasks::PairModel& model, std::string_view text) {
  const auto tokens = static_cast<std::int64_t>(model.source.encode(text).size());
  if (tokens <= model.limits.source) return "";
  return fmt::format("is a text of {} tokens: {}; the model reads at most {}", tokens,
                     files::in_quotes(text), model.limits.source);
}

}  // namespace

void add_pairs(CLI::App& app, Action& action) {
  auto options = std::make_shared<AnswerOptions>();
  CLI::App* command =
      app.add_subcommand("pairs", "Answer with a model that was trained on your own pairs");
  command->footer(
      "\nTrain one first: a file with a pair a line, source and target between them a tab (or "
      "CSV,\n"
      "or JSON lines), and a minute. The answer is one line a text.\n"
      "\nExamples:\n"
      "    printf 'cat\\tcats\\nbox\\tboxes\\n' > plurals.tsv      a few hundred such lines\n"
      "    attn train pairs --data plurals.tsv --out plurals --minutes 1\n"
      "    attn pairs --model plurals fox\n"
      "    attn pairs --model plurals --best 3 fox\n"
      "    attn pairs --model plurals - < words.txt > answers.txt\n"
      "    attn pairs --model plurals fox --show       where each letter looked");
  command->add_option("texts", options->texts, "Texts, or - for one a line")
      ->required()
      ->type_name("TEXT");
  add_answer_options(*command, "pairs", *options);
  command->callback([options, &action] {
    action = [options](const Streams& streams) {
      return answer_all("pairs", *options, {.problem = too_long}, streams);
    };
  });
}

}  // namespace attn::tools
