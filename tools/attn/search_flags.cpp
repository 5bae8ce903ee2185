#include "tools/attn/search_flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "attn/models/search.hpp"
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

void add_search_flags(CLI::App& command, SearchFlags& flags, const tasks::Task* task) {
  const auto told = [&](std::string help, const auto& of_task) {
    return task == nullptr ? help : fmt::format("{}; default {}", help, of_task(task->search));
  };
  using Search = models::SearchOptions;
  command
      .add_option("--beam", flags.beam,
                  told("Hypotheses that are followed; 1 is greedy",
                       [](const Search& search) { return search.beam; }))
      ->check(CLI::Range(1, 64));
  command
      .add_option("--length-penalty", flags.length_penalty,
                  told("Above 0 favours long answers",
                       [](const Search& search) { return search.length_penalty; }))
      ->check(between(0, 5));
  command
      .add_option("--no-repeat", flags.no_repeat,
                  told("So many tokens in a row are not said twice; 0: they may be",
                       [](const Search& search) { return search.no_repeat; }))
      ->check(CLI::Range(0, 1024));
  command
      .add_option_function<std::string>(
          "--choose",
          [&flags](const std::string& name) {
            flags.choice =
                name == kConsensus ? models::Choice::consensus : models::Choice::likeliest;
          },
          told("Of the answers that were found: the likeliest, or the one most like the others",
               [](const Search& search) { return name_of(search.choice); }))
      ->type_name("likeliest|consensus")
      ->check(CLI::IsMember({std::string(kLikeliest), std::string(kConsensus)}));
}

void apply(const SearchFlags& flags, models::SearchOptions& search) {
  search.beam = flags.beam.value_or(search.beam);
  search.length_penalty = flags.length_penalty.value_or(search.length_penalty);
  search.no_repeat = flags.no_repeat.value_or(search.no_repeat);
  search.choice = flags.choice.value_or(search.choice);
}

}  // namespace attn::tools
