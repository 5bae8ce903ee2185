// SPDX-License-Identifier: Apache-2.0

#include "maps/terminal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/pooled.hpp"
#include "attn/maps/show.hpp"
#include "attn/maps/text_width.hpp"

namespace attn::maps {
namespace {

constexpr std::array<std::string_view, 5> kShades{" ", "░", "▒", "▓", "█"};
/// More rows than a screen has say less, not more.
constexpr std::size_t kMostRows = 64;
constexpr std::size_t kWidestCell = 9;
constexpr std::size_t kNarrowestLevelCell = 6;

std::string repeated(std::string_view text, std::size_t count) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

std::string escape(const char* which, Rgb colour) {
  char text[32];
  std::snprintf(text, sizeof(text), "\x1b[%s;2;%d;%d;%dm", which, colour.red, colour.green,
                colour.blue);
  return text;
}

std::size_t widest(const Labels& labels) {
  std::size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, width_of(on_one_line(label)));
  return width;
}

/// Labels of blocks: the first element of each, or the range.
Labels pooled_labels(const Labels& labels, std::size_t blocks) {
  if (labels.size() == blocks) return labels;
  Labels result;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = block_begin(i, blocks, labels.size());
    const std::size_t end = block_begin(i + 1, blocks, labels.size());
    result.push_back(end == begin + 1 ? std::to_string(end)
                                      : std::to_string(begin + 1) + "–" + std::to_string(end));
  }
  return result;
}

/// Labels standing upright, a grapheme a line, ending just above the cells.
std::vector<std::string> upright(const Labels& labels, std::size_t cell_width) {
  constexpr std::size_t kTallest = 10;
  std::vector<std::string> texts;
  std::size_t height = 0;
  for (const std::string& label : labels) {
    texts.push_back(shortened(on_one_line(label), kTallest));
    height = std::max(height, graphemes(texts.back()).size());
  }
  std::vector<std::string> lines(height);
  for (const std::string& text : texts) {
    const auto parts = graphemes(text);
    for (std::size_t line = 0; line < height; ++line) {
      const std::size_t above = height - parts.size();
      // A wide letter does not fit into a narrow cell.
      const bool fits = line >= above && parts[line - above].width <= cell_width;
      lines[line] += line < above ? left_in("", cell_width)
                                  : left_in(fits ? parts[line - above].text : "?", cell_width);
    }
  }
  return lines;
}

/// A weight in per cent, in the middle of its cell.
std::string per_cent(float weight, std::size_t width) {
  const std::string digits = std::to_string(std::lround(100.0f * weight));
  if (digits.size() + 1 > width || digits == "0") return left_in("", width);
  const std::size_t before = (width - digits.size()) / 2;
  return left_in(std::string(before, ' ') + digits, width);
}

}  // namespace

std::string_view shade(float share) {
  const float inside = share > 0.0f ? std::min(share, 1.0f) : 0.0f;
  return kShades[static_cast<std::size_t>(std::lround(inside * 4.0f))];
}

std::string cell(std::string_view text, float share, Colour colour) {
  if (colour == Colour::none) return repeated(shade(share), width_of(text));
  const Rgb background = colour_of(share);
  return escape("48", background) + escape("38", text_on(background)) + std::string(text) +
         "\x1b[0m";
}

std::string left_in(std::string_view text, std::size_t width) {
  std::string result = cut_to(text, width);
  return result + std::string(width - width_of(result), ' ');
}

std::string right_in(std::string_view text, std::size_t width) {
  const std::string result = cut_to(text, width);
  return std::string(width - width_of(result), ' ') + result;
}

Block matrix_block(const Matrix& weights, const Labels& rows, const Labels& columns, float top,
                   std::size_t width, Colour colour) {
  const Labels row_labels = pooled_labels(rows, std::min(weights.rows, kMostRows));
  const std::size_t margin = std::min(widest(row_labels), std::max<std::size_t>(width / 4, 6));
  const std::size_t room = width - margin - 1;
  // Labels lie level while enough of each can be read; else they stand over two columns a
  // cell, or one.
  const std::size_t wanted =
      std::clamp<std::size_t>(widest(columns) + 1, colour == Colour::full ? 4 : 3, kWidestCell);
  std::size_t cell_width = std::min(wanted, room / std::max<std::size_t>(weights.columns, 1));
  const bool flat = cell_width >= std::min(wanted, kNarrowestLevelCell);
  if (!flat) cell_width = weights.columns * 2 <= room ? 2 : 1;

  const Matrix seen = pooled(weights, kMostRows, std::max<std::size_t>(room / cell_width, 1));
  const Labels column_labels = pooled_labels(columns, seen.columns);

  Block block{{}, margin + 1 + seen.columns * cell_width};
  const std::string indent(margin + 1, ' ');
  if (flat) {
    std::string line = indent;
    for (const std::string& label : column_labels)
      line += left_in(left_in(on_one_line(label), cell_width - 1), cell_width);
    block.lines.push_back(std::move(line));
  } else if (seen.columns == columns.size()) {
    for (const std::string& line : upright(column_labels, cell_width))
      block.lines.push_back(indent + line);
  } else {
    block.lines.push_back(
        indent + left_in("1 … " + std::to_string(columns.size()), seen.columns * cell_width));
  }
  for (std::size_t i = 0; i < seen.rows; ++i) {
    std::string line = right_in(on_one_line(row_labels[i]), margin) + ' ';
    for (std::size_t j = 0; j < seen.columns; ++j) {
      const float weight = seen.at(i, j);
      line += cell(per_cent(flat ? weight : 0.0f, cell_width), weight / top, colour);
    }
    block.lines.push_back(std::move(line));
  }
  if (seen.rows != weights.rows || seen.columns != weights.columns)
    block.lines.push_back(left_in("largest of " + std::to_string(weights.rows) + " × " +
                                      std::to_string(weights.columns) + " weights in " +
                                      std::to_string(seen.rows) + " × " +
                                      std::to_string(seen.columns) + " blocks",
                                  block.width));
  return block;
}

std::string side_by_side(const std::vector<Block>& blocks, std::size_t width) {
  constexpr std::size_t kGap = 3;
  std::string text;
  for (std::size_t begin = 0; begin < blocks.size();) {
    std::size_t end = begin;
    std::size_t taken = 0;
    std::size_t height = 0;
    while (end < blocks.size() && (end == begin || taken + kGap + blocks[end].width <= width)) {
      taken += (end == begin ? 0 : kGap) + blocks[end].width;
      height = std::max(height, blocks[end].lines.size());
      ++end;
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string all;
      for (std::size_t i = begin; i < end; ++i) {
        if (i > begin) all.append(kGap, ' ');
        all += line < blocks[i].lines.size() ? blocks[i].lines[line]
                                             : std::string(blocks[i].width, ' ');
      }
      all.erase(all.find_last_not_of(' ') + 1);
      text += all + '\n';
    }
    begin = end;
    if (begin < blocks.size()) text += '\n';
  }
  return text;
}

std::string legend(float top, std::size_t width, Colour colour) {
  // As many steps of the scale as fit.
  for (const int parts : {4, 2, 1}) {
    std::string text;
    std::size_t wide = 0;
    for (int i = 0; i <= parts; ++i) {
      const float share = static_cast<float>(i) / static_cast<float>(parts);
      const std::string number = short_number(share * top);
      const bool blank = colour == Colour::none && i == 0;
      text +=
          (i > 0 ? "  " : "") + (blank ? "blank" : cell("  ", share, colour)) + ' ' + number;
      wide += (i > 0 ? 2 : 0) + (blank ? 5 : 2) + 1 + number.size();
    }
    if (wide <= width || parts == 1) return text + '\n';
  }
  return {};
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

}  // namespace attn::maps
