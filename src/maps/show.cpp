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
#include "attn/maps/pooled.hpp"
#include "attn/maps/text_width.hpp"
#include "maps/terminal.hpp"

namespace attn::maps {
namespace {

/// A word on its colour; without colour its shade stands before it.
std::string word_text(const std::string& text, float share, Colour colour) {
  if (colour == Colour::full) return cell(text, share, colour);
  return std::string(shade(share)) + text;
}

/// One step of an image: its label, where it looked, and its boxes in words.
Block step_block(const Step& step, std::size_t width, float top, Colour colour) {
  constexpr std::size_t kMostCells = 16;
  std::vector<std::string> words{step.label.empty() ? "(no word)" : on_one_line(step.label)};
  for (const Box& box : step.boxes) {
    std::string line = box.label.empty() ? "box" : on_one_line(box.label);
    line += " at " + short_number(box.x) + ", " + short_number(box.y);
    if (box.weight) line += ": " + short_number(*box.weight);
    words.push_back(std::move(line));
  }
  for (std::size_t i = 0; i < step.path.size(); ++i)
    words.push_back(std::to_string(i + 1) + " at " + short_number(step.path[i].x) + ", " +
                    short_number(step.path[i].y));
  std::vector<std::string> picture;
  std::size_t picture_width = 0;
  if (step.grid && step.grid->rows > 0 && step.grid->columns > 0) {
    const Matrix seen = pooled(*step.grid, kMostCells, std::min(kMostCells, (width - 1) / 2));
    for (std::size_t i = 0; i < seen.rows; ++i) {
      picture.emplace_back("│");
      for (std::size_t j = 0; j < seen.columns; ++j)
        picture.back() += cell("  ", seen.at(i, j) / top, colour);
    }
    picture_width = 1 + 2 * seen.columns;
  }
  Block block{{}, picture_width};
  for (const std::string& line : words)
    block.width = std::min(std::max(block.width, width_of(line)), width);
  for (const std::string& line : words) block.lines.push_back(left_in(line, block.width));
  for (std::string& line : picture) line.append(block.width - picture_width, ' ');
  block.lines.insert(block.lines.begin() + 1, picture.begin(), picture.end());
  return block;
}

std::string show_document(const Document& map, std::size_t width, Colour colour) {
  float largest = 0.0f;
  for (const Sentence& sentence : map.sentences)
    for (const Word& word : sentence.words) largest = std::max(largest, word.weight);
  const float top = top_of(largest);
  const bool levels = map.sentences.size() > 1;
  std::string text;
  bool words = false;
  for (const Sentence& sentence : map.sentences) {
    // The bar of the sentence runs along all its lines.
    const std::string bar = levels ? cell("  ", sentence.weight, colour) + ' ' : "";
    const std::size_t room = width - (levels ? 3 : 0);
    std::string line;
    std::size_t taken = 0;
    for (const Word& word : sentence.words) {
      const std::string shown =
          cut_to(on_one_line(word.text), room - (colour == Colour::none ? 1 : 0));
      const std::size_t size = width_of(shown) + (colour == Colour::none ? 1 : 0);
      if (taken > 0 && taken + 1 + size > room) {
        text += bar + line + '\n';
        line.clear();
        taken = 0;
      }
      if (taken > 0) line += ' ';
      taken += size + (taken > 0 ? 1 : 0);
      line += word_text(shown, word.weight / top, colour);
      words = true;
    }
    if (taken > 0) text += bar + line + '\n';
  }
  return words ? text + legend(top, width, colour) : std::string();
}

std::string show_image(const Image& map, std::size_t width, Colour colour) {
  float largest = 0.0f;
  for (const Step& step : map.steps)
    if (step.grid)
      for (const float weight : step.grid->values) largest = std::max(largest, weight);
  const float top = top_of(largest);
  std::vector<Block> blocks;
  blocks.reserve(map.steps.size());
  for (const Step& step : map.steps) blocks.push_back(step_block(step, width, top, colour));
  if (blocks.empty()) return {};
  const bool weights = std::any_of(map.steps.begin(), map.steps.end(),
                                   [](const Step& step) { return step.grid.has_value(); });
  return side_by_side(blocks, width) + (weights ? legend(top, width, colour) : "");
}

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
    std::string operator()(const Arcs& kind) const { return show_arcs(kind, width); }
    std::string operator()(const Diagram& kind) const {
      return show_diagram(kind, width, colour);
    }
    std::string operator()(const Speech& kind) const {
      return show_speech(kind, width, colour);
    }
  };
  const std::string body = std::visit(Kinds{width, colour}, map);
  return without_blank_ends(lines_of(title_of(map), width) +
                            (body.empty() ? std::string(kNothing) : body) +
                            lines_of(caption_of(map), width));
}

}  // namespace attn::maps
