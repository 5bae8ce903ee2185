// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "attn/files/printable.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/text/unicode.hpp"
#include "tools/attn/answering.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

/// A word is read whole or not at all.
std::string too_long(const tasks::PairModel& model, std::string_view word) {
  const auto letters = text::code_points(word).size();
  if (letters <= static_cast<std::size_t>(model.limits.source)) return "";
  return fmt::format("is a word of {} letters: {}; the model reads at most {}", letters,
                     files::in_quotes(word), model.limits.source);
}

}  // namespace

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
  command->callback([options, &action] {
    action = [options](const Streams& streams) {
      const bool from_input = options->texts.size() == 1 && options->texts[0] == "-";
      return answer_all("pronounce", *options, {.problem = too_long, .echo = !from_input},
                        streams);
    };
  });
}

}  // namespace attn::tools
