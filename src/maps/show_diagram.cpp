// A diagram in a terminal: its words line by line as they stand on the sheet, then its weights.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/show.hpp"
#include "attn/maps/text_width.hpp"
#include "maps/terminal.hpp"

namespace attn::maps {
namespace {

/// What stands within so many points of a line stands on it.
constexpr double kLine = 12.0;

struct Text {
  double x;
  double y;
  std::string text;
};

std::string on_the_sheet(std::vector<Text> texts, std::size_t width) {
  std::sort(texts.begin(), texts.end(), [](const Text& a, const Text& b) {
    const double line_a = std::floor(a.y / kLine);
    const double line_b = std::floor(b.y / kLine);
    return line_a != line_b ? line_a < line_b : a.x < b.x;
  });
  std::string all;
  for (std::size_t i = 0; i < texts.size();) {
    const double line = std::floor(texts[i].y / kLine);
    std::string row;
    for (; i < texts.size() && std::floor(texts[i].y / kLine) == line; ++i)
      row += (row.empty() ? "" : "   ") + on_one_line(texts[i].text);
    for (const std::string& one : wrapped(row, width)) all += one + '\n';
  }
  return all;
}

}  // namespace

std::string show_diagram(const Diagram& map, std::size_t width, Colour colour) {
  std::vector<Text> texts;
  for (const Part& part : map.parts) {
    if (part.label.empty() && part.detail.empty()) continue;
    // Few, and their number is not known before.
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    texts.push_back({part.x, part.y + part.height / 2.0,
                     '[' + part.label + (part.detail.empty() ? "" : ": " + part.detail) + ']'});
  }
  for (const Note& note : map.notes) texts.push_back({note.x, note.y, note.text});
  for (const Arrow& arrow : map.arrows)
    if (!arrow.label.empty()) {
      const Point begin = arrow.through.front();
      const Point end = arrow.through.back();
      texts.push_back({(begin.x + end.x) / 2.0, (begin.y + end.y) / 2.0, arrow.label + " →"});
    }
  std::string text = on_the_sheet(std::move(texts), width);
  std::vector<Block> blocks;
  float top = 0.0f;
  for (const Grid& grid : map.grids) top = std::max(top, top_of(grid.weights));
  for (const Grid& grid : map.grids)
    if (!grid.rows.empty() && !grid.columns.empty())
      blocks.push_back(matrix_block(grid.weights, grid.rows, grid.columns, top, width, colour));
  if (blocks.empty()) return text;
  return text + side_by_side(blocks, width) + legend(top, width, colour);
}

}  // namespace attn::maps
