// attn diagram: the concept figures of attention.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/diagrams/diagrams.hpp"
#include "tools/attn/draw_map.hpp"

namespace attn::tools {
namespace {

struct DiagramOptions {
  std::string name;
  std::string map;
  bool show = false;
  bool json = false;
};

int diagram_command(const DiagramOptions& options, const Streams& streams) {
  if (options.name.empty()) {
    if (options.show || options.json || !options.map.empty()) {
      fmt::print(streams.err, "attn diagram: --map, --show and --json need a NAME\n");
      return usage;
    }
    for (const NamedDiagram& one : diagrams())
      fmt::print(streams.out, "{:<18} {}\n", one.name, one.title);
    return success;
  }
  for (const NamedDiagram& one : diagrams()) {
    if (one.name != options.name) continue;
    if (!options.map.empty()) check_map_output(options.map);
    const maps::Map map = one.draw();
    if (options.json) fmt::print(streams.out, "{}\n", maps::to_json(map));
    // Without anything asked for, looking is what a figure is for.
    if (options.show || (options.map.empty() && !options.json))
      show_map(map, options.json ? streams.err : streams.out);
    if (!options.map.empty()) {
      write_map(map, options.map);
      fmt::print(streams.err, "Written: {}\n", options.map);
    }
  }
  return success;
}

}  // namespace

void add_diagram(CLI::App& app, Action& action) {
  auto options = std::make_shared<DiagramOptions>();
  CLI::App* command =
      app.add_subcommand("diagram", "Draw the figures that attention is explained with");
  command->footer(
      "\nBoxes and arrows: queries, keys and values, scoring functions, an encoder and a "
      "decoder\n"
      "without and with attention, several heads, three architectures, a Transformer. The "
      "numbers\n"
      "in them are computed by the library; attn lesson prints them. Without a NAME the "
      "figures\n"
      "are listed.\n\n"
      "Examples:\n"
      "    attn diagram\n"
      "    attn diagram query-key-value --map qkv.svg\n"
      "    attn diagram multi-head --map heads.pdf");
  std::vector<std::string> names;
  for (const NamedDiagram& one : diagrams()) names.emplace_back(one.name);
  command->add_option("name", options->name, "Which figure; without it they are listed")
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
  command->add_option("--map", options->map, "Draw it: .svg, .pdf, .png, or .json")
      ->type_name("FILE")
      ->check(map_file_problem);
  command->add_flag("--show", options->show,
                    "Print its words and weights in the terminal, the default without --map");
  command->add_flag("--json", options->json, "Print it as a map in JSON");
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return diagram_command(*options, streams); };
  });
}

}  // namespace attn::tools
