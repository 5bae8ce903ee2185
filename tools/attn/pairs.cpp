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
      "    seq 0 19999 | LC_ALL=C awk '{t = $1 * 86400;\n"
      "      print strftime(\"%-d %B %Y\", t, 1) \"\\t\" strftime(\"%Y-%m-%d\", t, 1)}' > "
      "dates.tsv\n"
      "    attn train pairs --data dates.tsv --out dates --minutes 1\n"
      "    attn pairs --model dates \"12 August 1997\"\n"
      "    attn pairs --model dates --best 3 \"1 May 2000\"\n"
      "    cut -f 1 dates.tsv | head | attn pairs --model dates -\n"
      "    attn pairs --model dates \"1 May 2000\" --show       where each letter looked");
  command->add_option("texts", options->texts, "Texts, or - for one a line")
      ->required()
      ->type_name("TEXT");
  add_answer_options(*command, "pairs", *options);
  command->get_option("--model")->required();  // none ships
  command->callback([options, &action] {
    action = [options](const Streams& streams) {
      return answer_all("pairs", *options, streams);
    };
  });
}

}  // namespace attn::tools
