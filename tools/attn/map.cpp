// SPDX-License-Identifier: Apache-2.0

#include "attn/maps/map.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <iostream>
#include <memory>
#include <string>

#include "attn/core/error.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/draw_map.hpp"

namespace attn::tools {
namespace {

struct MapFlags {
  std::string input;
  std::string out;
  bool show = false;
};

/// Standard input, with a bound on what is kept of it.
std::string read_standard_input() {
  constexpr std::size_t kMost = std::size_t{320} << 20;
  std::string text;
  char part[1 << 16];
  while (std::cin.read(part, sizeof(part)) || std::cin.gcount() > 0) {
    text.append(part, static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > kMost)
      fail<FileError>("standard input: more than ", kMost, " bytes; a map is smaller");
  }
  return text;
}

int map_command(const MapFlags& options, const Streams& streams) {
  const maps::Map map = options.input == "-"
                            ? maps::parse_map(read_standard_input(), "standard input")
                            : maps::read_map(options.input);
  // Without anything asked for, looking is what a map is for.
  if (options.show || options.out.empty()) show_map(map, streams.out);
  if (!options.out.empty()) {
    write_map(map, options.out);
    fmt::print(streams.err, "Written: {}\n", options.out);
  }
  return success;
}

}  // namespace

void add_map(CLI::App& app, Action& action) {
  auto options = std::make_shared<MapFlags>();
  CLI::App* command =
      app.add_subcommand("map", "Draw what attention looked at, from numbers in a file");
  command->footer(
      "\nA map is a JSON file of numbers and labels: which word looked at which, by how much.\n"
      "Commands that attend write one with --map FILE.json, and so can any program of yours;\n"
      "docs/maps.md describes the seven kinds. Here it becomes a picture again: a vector\n"
      "drawing (.svg, .pdf), an image (.png), or a heat map in the terminal.\n\n"
      "Darker means more weight. The scale is the same in every picture, its lightness falls\n"
      "evenly, and it survives a grey printer; the legend says what the darkest colour is.\n\n"
      "Examples:\n"
      "    attn translate \"a fast web server\" --map alignment.json\n"
      "    attn map alignment.json                       look at it here\n"
      "    attn map alignment.json --out alignment.pdf   a figure for a paper\n"
      "    attn map - --out weights.svg <weights.json    from another program");
  command->add_option("file", options->input, "The map: a JSON file, or - for standard input")
      ->required()
      ->type_name("FILE.json");
  command->add_option("--out", options->out, "Draw it here: .svg, .pdf, .png, or .json again")
      ->type_name("FILE")
      ->check(map_file_problem);
  command->add_flag("--show", options->show,
                    "Print it as a heat map; what is done when there is no --out");
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return map_command(*options, streams); };
  });
}

}  // namespace attn::tools
