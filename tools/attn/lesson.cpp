// attn lesson: what the tutorials say about attention, computed.

// SPDX-License-Identifier: Apache-2.0

#include "tools/attn/lessons/lesson.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/attn/command.hpp"
#include "tools/attn/draw_map.hpp"

namespace attn::tools {
namespace {

struct LessonOptions {
  std::string name;
  std::string map;
  bool show = false;
  bool json = false;
};

void list_lessons(const LessonOptions& options, const Streams& streams) {
  if (options.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const Lesson& lesson : lessons())
      all.push_back({{"name", lesson.name},
                     {"title", lesson.title},
                     {"page", "docs/lessons/" + std::string(lesson.page)}});
    fmt::print(streams.out, "{}\n", all.dump(2));
    return;
  }
  for (const Lesson& lesson : lessons())
    fmt::print(streams.out, "{:<14} {}\n", lesson.name, lesson.title);
  fmt::print(
      streams.out,
      "\ndocs/lessons begins before them, with attn regress tutorial, and has the pages.\n");
}

int lesson_command(const LessonOptions& options, const Streams& streams) {
  if (options.name.empty()) {
    if (options.show || !options.map.empty()) {
      fmt::print(streams.err, "attn lesson: --map and --show need the NAME of a lesson\n");
      return usage;
    }
    list_lessons(options, streams);
    return success;
  }
  for (const Lesson& lesson : lessons()) {
    if (lesson.name != options.name) continue;
    if (!options.map.empty()) check_map_output(options.map);
    const LessonResult result = lesson.run();
    if (options.json) {
      nlohmann::json told{{"name", lesson.name}, {"title", lesson.title}};
      told.update(json_of(result));
      fmt::print(streams.out, "{}\n", told.dump(2));
    } else {
      fmt::print(streams.out, "{}\n\n", lesson.title);
      print_lesson(result, streams.out);
    }
    if (options.show) show_map(result.figure, options.json ? streams.err : streams.out);
    if (!options.map.empty()) {
      write_map(result.figure, options.map);
      fmt::print(streams.err, "Written: {}\n", options.map);
    }
  }
  return success;
}

}  // namespace

void add_lesson(CLI::App& app, Action& action) {
  auto options = std::make_shared<LessonOptions>();
  CLI::App* command =
      app.add_subcommand("lesson", "What the tutorials say about attention, computed");
  command->footer(
      "\nEach lesson prints its numbers, which the library computes here and now, says what "
      "they\n"
      "show, and draws its figure with --map. Without a NAME they are listed. docs/lessons has "
      "a\n"
      "page for each, with exercises.\n\n"
      "Examples:\n"
      "    attn lesson\n"
      "    attn lesson scale\n"
      "    attn lesson order --map order.svg\n"
      "    attn lesson cost --json");
  std::vector<std::string> names;
  for (const Lesson& lesson : lessons()) names.emplace_back(lesson.name);
  command->add_option("name", options->name, "Which lesson; without it they are listed")
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
  command->add_option("--map", options->map, "Draw its figure: .svg, .pdf, .png, or .json")
      ->type_name("FILE")
      ->check(map_file_problem);
  command->add_flag("--show", options->show, "Print its figure in the terminal");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return lesson_command(*options, streams); };
  });
}

}  // namespace attn::tools
