// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/attn/answering.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {

void add_translate(CLI::App& app, Action& action) {
  auto options = std::make_shared<AnswerOptions>();
  CLI::App* command = app.add_subcommand("translate", "English becomes Italian");
  command->footer(
      "\nThe model that ships learnt from the descriptions of Debian's packages: it knows "
      "software,\n"
      "not poetry. A text is translated sentence by sentence. Other languages: train a model\n"
      "(attn train translate --language da --out DIR) and name it with --model.\n"
      "\nExamples:\n"
      "    attn translate \"This package provides a simple tool to edit images.\"\n"
      "    attn translate --beam 8 --best 3 \"a fast web server\"\n"
      "    attn translate - < english.txt > italian.txt");
  command->add_option("text", options->texts, "A text, or - for one a line")
      ->required()
      ->type_name("TEXT");
  add_answer_options(*command, "translate", *options);
  command->callback([options, &action] {
    action = [options](const Streams& streams) {
      return answer_all("translate", *options, streams);
    };
  });
}

}  // namespace attn::tools
