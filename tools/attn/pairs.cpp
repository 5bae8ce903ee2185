// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/attn/answering.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
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
      return answer_all("pairs", *options, streams);
    };
  });
}

}  // namespace attn::tools
