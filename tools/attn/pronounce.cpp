// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/attn/answering.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {

void add_pronounce(CLI::App& app, Action& action) {
  auto options = std::make_shared<AnswerOptions>();
  CLI::App* command =
      app.add_subcommand("pronounce", "English words become phones, letter by letter");
  command->footer(
      "\nThe phones are those of the CMU Pronouncing Dictionary, without stress. A word that "
      "no\n"
      "dictionary has works as well: the model spells it out, looking at the letters it "
      "needs.\n"
      "\nExamples:\n"
      "    attn pronounce attention debian\n"
      "    attn pronounce --best 3 read\n"
      "    attn pronounce - < words.txt > phones.txt\n"
      "    attn pronounce --json --weights though | jq .pieces[0].answers[0].weights");
  command->add_option("words", options->texts, "Words, or - for one a line")
      ->required()
      ->type_name("WORD");
  add_answer_options(*command, "pronounce", *options);
  options->echo = true;
  command->callback([options, &action] {
    action = [options](const Streams& streams) {
      return answer_all("pronounce", *options, streams);
    };
  });
}

}  // namespace attn::tools
