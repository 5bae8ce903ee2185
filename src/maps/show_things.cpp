// Documents and images in a terminal.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/pooled.hpp"
#include "attn/maps/show.hpp"
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

}  // namespace

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
  return side_by_side(blocks, width) + legend(top, width, colour);
}

}  // namespace attn::maps
