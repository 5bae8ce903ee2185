// SPDX-License-Identifier: Apache-2.0

#include "attn/maps/show.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/text_width.hpp"
#include "maps/terminal.hpp"

namespace attn::maps {
namespace {

constexpr std::size_t kNarrowest = 20;
/// A screen of heads; the rest is counted.
constexpr std::size_t kMostShownHeads = 64;

constexpr std::string_view kNothing = "(nothing to show)\n";

std::string lines_of(std::string_view text, std::size_t width) {
  std::string result;
  for (const std::string& line : wrapped(on_one_line(text), width)) result += line + '\n';
  return result;
}

/// A copied picture brings no spaces at the ends of its lines.
std::string without_blank_ends(const std::string& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::size_t last = end;
    while (last > begin && text[last - 1] == ' ') --last;
    result.append(text, begin, last - begin);
    result += '\n';
    begin = end + 1;
  }
  return result;
}

std::string show_alignment(const Alignment& map, std::size_t width, Colour colour) {
  if (map.rows.empty() || map.columns.empty()) return std::string(kNothing);
  std::string text;
  if (!map.row_title.empty() || !map.column_title.empty())
    text += lines_of("rows: " + map.row_title + "; columns: " + map.column_title, width);
  const float top = top_of(map.weights);
  const Block block = matrix_block(map.weights, map.rows, map.columns, top, width, colour);
  return text + side_by_side({block}, width) + legend(top, width, colour);
}

std::string show_heads(const Heads& map, std::size_t width, Colour colour) {
  float largest = 0.0f;
  for (const Head& head : map.maps)
    for (const float weight : head.weights.values) largest = std::max(largest, weight);
  const float top = top_of(largest);
  // Several beside each other where they are small.
  const std::size_t room =
      map.maps.size() == 1 ? width : std::min(width, std::max(width / 2, kNarrowest));
  std::vector<Block> blocks;
  for (const Head& head : map.maps) {
    const Labels& rows = head.rows ? *head.rows : map.rows;
    const Labels& columns = head.columns ? *head.columns : map.columns;
    if (rows.empty() || columns.empty()) continue;
    if (blocks.size() == kMostShownHeads) break;
    Block block = matrix_block(head.weights, rows, columns, top, room, colour);
    const std::string name = head.part + ", layer " + std::to_string(head.layer) + ", head " +
                             std::to_string(head.head);
    // A narrow matrix makes room for its name.
    const std::size_t wide = std::min(std::max(block.width, width_of(name)), room);
    for (std::string& line : block.lines) line.append(wide - block.width, ' ');
    block.width = wide;
    block.lines.insert(block.lines.begin(), left_in(name, wide));
    blocks.push_back(std::move(block));
  }
  if (blocks.empty()) return std::string(kNothing);
  std::string text = side_by_side(blocks, width);
  if (blocks.size() == kMostShownHeads && map.maps.size() > kMostShownHeads)
    text += lines_of("and " + std::to_string(map.maps.size() - kMostShownHeads) +
                         " more heads, which are not shown",
                     width);
  return text + legend(top, width, colour);
}

}  // namespace

std::string show(const Map& map, std::size_t columns, Colour colour) {
  validate(map);
  const std::size_t width = std::max(columns, kNarrowest);
  struct Kinds {
    std::size_t width;
    Colour colour;
    std::string operator()(const Alignment& kind) const {
      return show_alignment(kind, width, colour);
    }
    std::string operator()(const Heads& kind) const { return show_heads(kind, width, colour); }
    std::string operator()(const Curve& kind) const { return show_curve(kind, width, colour); }
    std::string operator()(const Document& kind) const {
      return show_document(kind, width, colour);
    }
    std::string operator()(const Image& kind) const { return show_image(kind, width, colour); }
    std::string operator()(const Training& kind) const { return show_training(kind, width); }
    std::string operator()(const Bars& kind) const { return show_bars(kind, width); }
  };
  const std::string body = std::visit(Kinds{width, colour}, map);
  return without_blank_ends(lines_of(title_of(map), width) +
                            (body.empty() ? std::string(kNothing) : body) +
                            lines_of(caption_of(map), width));
}

}  // namespace attn::maps
