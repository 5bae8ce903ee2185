#include "tools/attn/search_flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/task.hpp"
#include "tools/attn/checks.hpp"

namespace attn::tools {
namespace {

constexpr std::string_view kLikeliest = "likeliest";
constexpr std::string_view kConsensus = "consensus";

std::string_view name_of(models::Choice choice) {
  return choice == models::Choice::consensus ? kConsensus : kLikeliest;
}

}  // namespace

void add_search_flags(CLI::App& command, tasks::Choices& choices, const tasks::Task* task) {
  const auto told = [&](std::string help, const auto& of_task) {
    return task == nullptr ? help
                           : fmt::format("{}; default {}", help, of_task(*task->search()));
  };
  using Search = models::SearchOptions;
  command
      .add_option("--beam", choices.beam,
                  told("Number of hypotheses of the beam search; 1 is greedy",
                       [](const Search& search) { return search.beam; }))
      ->check(CLI::Range(1, 64));
  command
      .add_option("--length-penalty", choices.length_penalty,
                  told("Length penalty; above 0 favours long answers",
                       [](const Search& search) { return search.length_penalty; }))
      ->check(between(0, 5));
  command
      .add_option("--no-repeat", choices.no_repeat,
                  told("Never repeat this many tokens in a row; 0: allow it",
                       [](const Search& search) { return search.no_repeat; }))
      ->check(CLI::Range(0, 1024));
  command
      .add_option_function<std::string>(
          "--choose",
          [&choices](const std::string& name) {
            choices.choice =
                name == kConsensus ? models::Choice::consensus : models::Choice::likeliest;
          },
          told("Choose the likeliest hypothesis, or the one most like the others",
               [](const Search& search) { return name_of(search.choice); }))
      ->type_name("likeliest|consensus")
      ->check(CLI::IsMember({std::string(kLikeliest), std::string(kConsensus)}));
}

std::string misuse(const tasks::Choices& choices) {
  if (choices.beam && choices.best > *choices.beam)
    return fmt::format("--best {} is more than --beam {} finds; at most the beam is accepted",
                       choices.best, *choices.beam);
  if (choices.temperature > 0.0 && choices.beam.value_or(0) != 1)
    return fmt::format(
        "--temperature {} draws one answer, and a beam follows more; add --beam 1",
        choices.temperature);
  return "";
}

}  // namespace attn::tools
