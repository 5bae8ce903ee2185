// SPDX-License-Identifier: Apache-2.0

#include "attn/maps/map.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/training_history.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/draw_map.hpp"

namespace attn::tools {
namespace {

struct MapFlags {
  std::vector<std::string> inputs;
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

/// A folder of a training, or the log in it.
bool is_run(const std::string& input) {
  const std::filesystem::path path = input;
  std::error_code ignored;
  return path.extension() == ".jsonl" || std::filesystem::is_directory(path, ignored);
}

maps::Map curves_of(const std::vector<std::string>& runs) {
  std::vector<tasks::TrainingHistory> histories;
  for (const std::string& run : runs) {
    histories.push_back(tasks::read_history(run));
    if (!histories.back().begun)
      fail<FileError>(files::path_text(run),
                      " has no log.jsonl: it is no folder of a training");
  }
  return tasks::training_map(histories);
}

maps::Map read_input(const std::vector<std::string>& inputs) {
  if (std::all_of(inputs.begin(), inputs.end(), is_run)) return curves_of(inputs);
  if (inputs.size() > 1)
    fail("attn map: several are drawn into one picture where all are trainings; ",
         "a map stands alone");
  return inputs.front() == "-" ? maps::parse_map(read_standard_input(), "standard input")
                               : maps::read_map(inputs.front());
}

int map_command(const MapFlags& options, const Streams& streams) {
  const maps::Map map = read_input(options.inputs);
  // Without anything asked for, looking is what a map is for.
  if (options.show || options.out.empty()) show_map(map, streams.out);
  if (!options.out.empty()) {
    if (const std::string note = write_map(map, options.out); !note.empty())
      fmt::print(streams.err, "attn: {}\n", note);
    fmt::print(streams.err, "Written: {}\n", options.out);
  }
  return success;
}

}  // namespace

void add_map(CLI::App& app, Action& action) {
  auto options = std::make_shared<MapFlags>();
  CLI::App* command =
      app.add_subcommand("map", "Draw a map of attention, or the curves of a training run");
  command->footer(
      "\nA map is a JSON file of numbers and labels: which word looked at which, by how much.\n"
      "Commands that attend write one with --map FILE.json, and so can any program of yours;\n"
      "docs/maps.md describes the ten kinds. Here it becomes a picture again: a vector\n"
      "drawing (.svg, .pdf), an image (.png), or a heat map in the terminal.\n\n"
      "The folder of a training, or its log.jsonl, becomes the curve of loss and score over "
      "steps;\n"
      "several of them share one picture.\n\n"
      "Darker means more weight. The scale is the same in every picture, its lightness falls\n"
      "evenly, and it survives a grey printer; the legend says what the darkest colour is.\n\n"
      "Examples:\n"
      "    attn translate \"a fast web server\" --map alignment.json\n"
      "    attn map alignment.json                       look at it here\n"
      "    attn map alignment.json --out alignment.pdf   a figure for a paper\n"
      "    attn map - --out weights.svg <weights.json    from another program\n"
      "    attn map mine/log.jsonl --out curve.svg       how a training went, or goes\n"
      "    attn map small large --out both.svg           two of them beside each other");
  command
      ->add_option("file", options->inputs,
                   "A map as JSON, or - for standard input; or folders of training runs")
      ->required()
      ->type_name("FILE.json|RUN");
  command
      ->add_option("-o,--out", options->out,
                   "Write the picture to this file: .svg, .pdf, .png, or .json again")
      ->type_name("FILE")
      ->check(map_file_problem);
  command->add_flag("--show", options->show,
                    "Print it as a heat map, the default without --out");
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return map_command(*options, streams); };
  });
}

}  // namespace attn::tools
