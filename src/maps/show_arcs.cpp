// A tree in a terminal: a word a line, and arcs beside them.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "attn/maps/arc_levels.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/text_width.hpp"
#include "maps/terminal.hpp"

namespace attn::maps {
namespace {

constexpr std::size_t kWidestWord = 16;
constexpr std::size_t kWidestTag = 8;
constexpr std::size_t kWidestLabel = 14;
/// A screen of words; the rest is counted.
constexpr std::size_t kMostWords = 400;

std::size_t widest(const Labels& labels, std::size_t most) {
  std::size_t width = 0;
  for (const std::string& label : labels)
    width = std::max(width, std::min(width_of(on_one_line(label)), most));
  return width;
}

/// What depends on what, drawn right of the words: a column a level.
class Brackets {
 public:
  Brackets(const Arcs& map, std::size_t count)
      : levels_(arc_levels(map, count)),
        columns_(levels_.empty() ? 0 : *std::max_element(levels_.begin(), levels_.end())),
        cells_(count, std::vector<Cell>(columns_)) {
    for (std::size_t i = 0; i < map.arcs.size(); ++i)
      if (levels_[i] > 0) add(map.arcs[i], levels_[i] - 1);
  }

  std::size_t width() const { return 2 * columns_ + 2; }

  std::string line(std::size_t word) const {
    const std::vector<Cell>& cells = cells_[word];
    std::string text = arrows_.empty() || !is_dependent(word) ? " " : "◀";
    bool right = false;  // whether a line runs on to columns farther right
    std::vector<bool> runs(columns_, false);
    for (std::size_t column = columns_; column-- > 0;) {
      runs[column] = right;
      right = right || cells[column].starts;
    }
    text += right ? "─" : " ";
    for (std::size_t column = 0; column < columns_; ++column) {
      const Cell& cell = cells[column];
      text += sign(cell, runs[column]);
      text += runs[column] ? "─" : " ";
    }
    return text;
  }

 private:
  /// Which ways lines go from a place.
  struct Cell {
    bool up = false;
    bool down = false;
    bool starts = false;  ///< a line to the word
  };

  void add(const Arc& arc, std::size_t column) {
    const std::size_t top = std::min(arc.head, arc.dependent) - 1;
    const std::size_t bottom = std::max(arc.head, arc.dependent) - 1;
    for (std::size_t row = top; row <= bottom; ++row) {
      cells_[row][column].up = cells_[row][column].up || row > top;
      cells_[row][column].down = cells_[row][column].down || row < bottom;
    }
    cells_[top][column].starts = cells_[bottom][column].starts = true;
    arrows_.push_back(arc.dependent - 1);
  }

  bool is_dependent(std::size_t word) const {
    return std::find(arrows_.begin(), arrows_.end(), word) != arrows_.end();
  }

  static const char* sign(const Cell& cell, bool runs) {
    if (cell.starts) {
      if (cell.up && cell.down) return runs ? "┼" : "┤";
      if (cell.down) return runs ? "┬" : "┐";
      return runs ? "┴" : "┘";
    }
    if (cell.up || cell.down) return runs ? "┼" : "│";
    return runs ? "─" : " ";
  }

  std::vector<std::size_t> levels_;
  std::size_t columns_;
  std::vector<std::vector<Cell>> cells_;
  std::vector<std::size_t> arrows_;
};

}  // namespace

std::string show_arcs(const Arcs& map, std::size_t width) {
  const std::size_t count = std::min(map.words.size(), kMostWords);
  Labels labels(count);
  Labels heads(count);
  for (const Arc& arc : map.arcs) {
    if (arc.dependent > count) continue;
    std::string& label = labels[arc.dependent - 1];
    label += (label.empty() ? "" : ", ") + on_one_line(arc.label);
    if (arc.head > 0) heads[arc.dependent - 1] = on_one_line(map.words[arc.head - 1]);
  }
  const std::size_t word = widest(map.words, kWidestWord);
  const std::size_t tag = widest(map.tags, kWidestTag);
  const std::size_t label = widest(labels, kWidestLabel);
  const std::size_t before = word + (tag > 0 ? tag + 1 : 0) + label + 2;
  const Brackets brackets(map, count);
  const bool fits = before + brackets.width() <= width;
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    std::string line = left_in(on_one_line(map.words[i]), word) + ' ';
    if (tag > 0) line += left_in(on_one_line(map.tags[i]), tag) + ' ';
    line += left_in(labels[i], label) + ' ';
    // A tree that is too wide names the heads instead.
    line += fits ? brackets.line(i)
            : heads[i].empty()
                ? ""
                : "← " + cut_to(heads[i], width > before + 2 ? width - before - 2 : 1);
    text += cut_to(line, width) + '\n';
  }
  if (count < map.words.size())
    text += "and " + std::to_string(map.words.size() - count) + " more words\n";
  return text;
}

}  // namespace attn::maps
