// The program attn-draw: a map as JSON becomes a picture. A program of its own, so that attn
// loads neither Cairo nor Pango.
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "attn/core/error.hpp"
#include "attn/drawing/draw.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "tools/attn/checks.hpp"

namespace {

using attn::fail;

struct Request {
  std::string map = "-";
  std::string out;
  attn::drawing::Options options;
};

std::string read_standard_input() {
  constexpr std::size_t kMost = std::size_t{320} << 20;
  std::string text;
  char part[1 << 16];
  while (std::cin.read(part, sizeof(part)) || std::cin.gcount() > 0) {
    text.append(part, static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > kMost) fail("standard input: more than ", kMost, " bytes");
  }
  return text;
}

int run(int argc, char** argv) {
  Request request;
  CLI::App app(
      "Draws a map (what attention looked at, as JSON; docs/maps.md has the format) into a\n"
      "file whose ending says how: .svg, .pdf or .png.",
      "attn-draw");
  app.add_option("map", request.map, "The map, or - for standard input; default: -")
      ->type_name("FILE.json");
  app.add_option("--out", request.out, "The picture to write")
      ->required()
      ->type_name("FILE")
      ->check([](const std::string& path) {
        return attn::drawing::format_of(path) ? std::string()
                                              : path + "; accepted endings: .svg, .pdf, .png";
      });
  app.add_option("--width", request.options.width,
                 "Width to aim for, in points; small maps stay smaller; default 720")
      ->check(attn::tools::between(200, 10000));
  app.add_option("--scale", request.options.scale, "Pixels a point, for .png; default 2")
      ->check(attn::tools::between(0.25, 16));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const std::string missing = attn::drawing::draw_to(
      request.map == "-" ? attn::maps::parse_map(read_standard_input(), "standard input")
                         : attn::maps::read_map(request.map),
      request.out, request.options);
  if (!missing.empty())
    std::fprintf(stderr,
                 "no font on this machine has all letters of %s, so they are drawn as boxes; "
                 "for Chinese, on Debian: apt-get install fonts-wqy-microhei\n",
                 attn::files::in_quotes(missing).c_str());
  return 0;
}

}  // namespace

// fontconfig keeps its tables for the life of a process; the leak sanitizer, which asks here,
// should not count them.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): its name
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig";
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attn-draw: %s\n", error.what());
    return 1;
  }
}
