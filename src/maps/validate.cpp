// Checks that the sizes and numbers of a map agree.

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"

namespace attn::maps {
namespace {

constexpr std::size_t kMostLabelBytes = std::size_t{1} << 16;
constexpr std::int64_t kMostHeads = 100000;
/// So that the difference of any two numbers is a number, too.
constexpr double kMostNumber = 1e300;
/// Sums of rounded numbers pass 1 by a little.
constexpr float kMostWeight = 1.0001f;

/// A name with a number behind it, made only when something is wrong.
struct Place {
  std::string_view name;
  std::size_t index;

  std::string text() const { return std::string(name) + '[' + std::to_string(index) + ']'; }
};

void check_text(const std::string& text, std::string_view where) {
  if (text.size() > kMostLabelBytes)
    fail(where, ": a text of ", text.size(), " bytes; at most ", kMostLabelBytes,
         " are accepted");
  if (!files::is_utf8(text))
    fail(where, ": the text ", files::in_quotes(text), " is not UTF-8");
}

void check_labels(const Labels& labels, std::string_view where) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i].size() > kMostLabelBytes || !files::is_utf8(labels[i]))
      check_text(labels[i], Place{where, i}.text());
}

void check_weight(float weight, std::string_view where) {
  if (!(weight >= 0.0f && weight <= kMostWeight))
    fail(where, ": the weight ", weight, "; accepted: 0 to 1");
}

void check_matrix(const Matrix& matrix, std::size_t rows, std::size_t columns,
                  const std::string& where) {
  if (matrix.rows != rows || matrix.columns != columns)
    fail(where, ": ", matrix.rows, " rows of ", matrix.columns, "; accepted: ", rows,
         " rows of ", columns);
  if (matrix.values.size() != rows * columns)
    fail(where, ": ", matrix.values.size(), " numbers for ", rows, " rows of ", columns);
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    if (!(matrix.values[i] >= 0.0f && matrix.values[i] <= kMostWeight))
      check_weight(matrix.values[i],
                   Place{Place{where, i / columns}.text(), i % columns}.text());
}

void check_finite(std::span<const double> values, std::string_view where) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::fabs(values[i]) <= kMostNumber))
      fail(Place{where, i}.text(), ": the number ", values[i], "; accepted: -", kMostNumber,
           " to ", kMostNumber);
}

void check_line(const std::string& name, const std::vector<double>& x,
                const std::vector<double>& y, const std::string& where) {
  check_text(name, where + ".name");
  if (x.size() != y.size())
    fail(where, ": ", x.size(), " numbers x and ", y.size(), " numbers y; accepted: as many");
  check_finite(x, where + ".x");
  check_finite(y, where + ".y");
}

void check(const Alignment& map) {
  check_labels(map.rows, "rows");
  check_labels(map.columns, "columns");
  check_text(map.row_title, "row_title");
  check_text(map.column_title, "column_title");
  check_matrix(map.weights, map.rows.size(), map.columns.size(), "weights");
}

void check(const Heads& map) {
  check_labels(map.rows, "rows");
  check_labels(map.columns, "columns");
  for (std::size_t i = 0; i < map.maps.size(); ++i) {
    const Head& head = map.maps[i];
    const std::string where = Place{"maps", i}.text();
    if (head.part != "encoder" && head.part != "decoder" && head.part != "cross")
      fail(where, ".part: ", files::in_quotes(head.part),
           "; accepted: \"encoder\", \"decoder\", \"cross\"");
    if (head.layer < 1 || head.layer > kMostHeads)
      fail(where, ".layer: ", head.layer, "; accepted: 1 to ", kMostHeads);
    if (head.head < 1 || head.head > kMostHeads)
      fail(where, ".head: ", head.head, "; accepted: 1 to ", kMostHeads);
    if (head.rows) check_labels(*head.rows, where + ".rows");
    if (head.columns) check_labels(*head.columns, where + ".columns");
    check_matrix(head.weights, head.rows.value_or(map.rows).size(),
                 head.columns.value_or(map.columns).size(), where + ".weights");
  }
}

void check(const Curve& map) {
  check_text(map.x_title, "x_title");
  check_text(map.y_title, "y_title");
  for (std::size_t i = 0; i < map.points.size(); ++i)
    check_finite(std::vector{map.points[i].x, map.points[i].y}, Place{"points", i}.text());
  for (std::size_t i = 0; i < map.lines.size(); ++i)
    check_line(map.lines[i].name, map.lines[i].x, map.lines[i].y, Place{"lines", i}.text());
  check_finite(map.queries, "queries");
  check_matrix(map.weights, map.queries.size(), map.queries.empty() ? 0 : map.points.size(),
               "weights");
}

void check(const Document& map) {
  for (std::size_t i = 0; i < map.sentences.size(); ++i) {
    const std::string where = Place{"sentences", i}.text();
    check_weight(map.sentences[i].weight, where + ".weight");
    for (std::size_t j = 0; j < map.sentences[i].words.size(); ++j) {
      const Word& word = map.sentences[i].words[j];
      const std::string at = Place{where + ".words", j}.text();
      check_text(word.text, at + ".text");
      check_weight(word.weight, at + ".weight");
    }
  }
}

void check_box(const Box& box, const std::string& where) {
  check_finite(std::vector{box.x, box.y, box.width, box.height}, where);
  if (box.width < 0.0 || box.height < 0.0)
    fail(where, ": a box of ", box.width, " x ", box.height, "; accepted: 0 or more");
  if (box.weight) check_weight(*box.weight, where + ".weight");
  check_text(box.label, where + ".label");
}

void check(const Image& map) {
  if (map.channels != 1 && map.channels != 3)
    fail("channels: ", map.channels, "; accepted: 1 (grey) or 3 (red, green, blue)");
  if (map.width > kMostSide || map.height > kMostSide)
    fail("an image of ", map.width, " x ", map.height, "; at most ", kMostSide, " x ",
         kMostSide, " are accepted");
  if (map.pixels.size() != map.width * map.height * map.channels)
    fail("pixels: ", map.pixels.size(), " bytes for an image of ", map.width, " x ", map.height,
         " with ", map.channels,
         " channel(s); accepted: ", map.width * map.height * map.channels);
  for (std::size_t i = 0; i < map.steps.size(); ++i) {
    const Step& step = map.steps[i];
    const std::string where = Place{"steps", i}.text();
    check_text(step.label, where + ".label");
    if (step.grid) {
      const Matrix& grid = *step.grid;
      if (grid.rows > kMostSide || grid.columns > kMostSide)
        fail(where, ".grid: ", grid.rows, " x ", grid.columns, "; at most ", kMostSide, " x ",
             kMostSide, " are accepted");
      check_matrix(grid, grid.rows, grid.columns, where + ".grid.weights");
    }
    for (std::size_t j = 0; j < step.boxes.size(); ++j)
      check_box(step.boxes[j], Place{where + ".boxes", j}.text());
    for (std::size_t j = 0; j < step.path.size(); ++j)
      check_finite(std::vector{step.path[j].x, step.path[j].y},
                   Place{where + ".path", j}.text());
  }
}

void check(const Training& map) {
  check_text(map.x_title, "x_title");
  check_text(map.left_title, "left_title");
  check_text(map.right_title, "right_title");
  for (std::size_t i = 0; i < map.marks.size(); ++i) {
    const std::string where = Place{"marks", i}.text();
    check_text(map.marks[i].label, where + ".label");
    check_finite(std::vector{map.marks[i].x, map.marks[i].y}, where);
  }
  for (std::size_t i = 0; i < map.series.size(); ++i)
    check_line(map.series[i].name, map.series[i].x, map.series[i].y, Place{"series", i}.text());
}

void check(const Bars& map) {
  check_text(map.value_title, "value_title");
  check_labels(map.groups, "groups");
  for (std::size_t i = 0; i < map.series.size(); ++i) {
    const BarSeries& series = map.series[i];
    const std::string where = Place{"series", i}.text();
    check_text(series.name, where + ".name");
    if (series.values.size() != map.groups.size())
      fail(where, ".values: ", series.values.size(), " numbers for ", map.groups.size(),
           " groups; accepted: one a group");
    check_finite(series.values, where + ".values");
  }
}

void check(const Arcs& map) {
  check_labels(map.words, "words");
  check_labels(map.tags, "tags");
  if (!map.tags.empty() && map.tags.size() != map.words.size())
    fail("tags: ", map.tags.size(), " for ", map.words.size(),
         " words; accepted: one a word, or none");
  for (std::size_t i = 0; i < map.arcs.size(); ++i) {
    const Arc& arc = map.arcs[i];
    const std::string where = Place{"arcs", i}.text();
    if (arc.head > map.words.size())
      fail(where, ".head: ", arc.head, "; accepted: 0 to ", map.words.size());
    if (arc.dependent < 1 || arc.dependent > map.words.size() || arc.dependent == arc.head)
      fail(where, ".dependent: ", arc.dependent, "; accepted: another word, 1 to ",
           map.words.size());
    check_text(arc.label, where + ".label");
    check_weight(arc.weight, where + ".weight");
  }
}

void check(const Speech& map) {
  check_labels(map.words, "words");
  const auto positive = [](double value, const char* name) {
    if (!std::isfinite(value) || value < 0.0) fail(name, ": ", value, "; accepted: 0 or more");
  };
  positive(map.begin, "begin");
  positive(map.seconds, "seconds");
  positive(map.hertz, "hertz");
  for (const auto* times : {&map.begins, &map.ends}) {
    const char* name = times == &map.begins ? "begins" : "ends";
    if (times->size() != map.words.size())
      fail(name, ": ", times->size(), " for ", map.words.size(),
           " words; accepted: one a word");
    for (const double time : *times)
      if (!std::isfinite(time)) fail(name, ": ", time, "; accepted: a finite number");
  }
  const std::size_t columns = map.spectrogram.columns;
  check_matrix(map.spectrogram, map.spectrogram.rows, columns, "spectrogram");
  check_matrix(map.weights, map.words.size(), columns, "weights");
}

/// Everything a diagram places lies on its sheet.
void check_place(std::initializer_list<double> values, const std::string& where) {
  for (const double value : values)
    if (!(value >= 0.0 && value <= kLargestDiagram))
      fail(where, ": the place ", value, "; accepted: 0 to ", kLargestDiagram);
}

void check(const Grid& grid, const std::string& where) {
  check_labels(grid.rows, where + ".rows");
  check_labels(grid.columns, where + ".columns");
  check_matrix(grid.weights, grid.rows.size(), grid.columns.size(), where + ".weights");
  if (!(grid.cell_width >= 0.0 && grid.cell_height >= 0.0))
    fail(where, ": cells of ", grid.cell_width, " x ", grid.cell_height,
         "; accepted: 0 or more");
  check_place(
      {grid.x, grid.y, grid.x + grid.cell_width * static_cast<double>(grid.columns.size()),
       grid.y + grid.cell_height * static_cast<double>(grid.rows.size())},
      where);
}

void check(const Diagram& map) {
  for (std::size_t i = 0; i < map.parts.size(); ++i) {
    const Part& part = map.parts[i];
    const std::string where = Place{"parts", i}.text();
    check_box({part.x, part.y, part.width, part.height, std::nullopt, part.label}, where);
    check_text(part.detail, where + ".detail");
    check_place({part.x, part.y, part.x + part.width, part.y + part.height}, where);
  }
  for (std::size_t i = 0; i < map.arrows.size(); ++i) {
    const Arrow& arrow = map.arrows[i];
    const std::string where = Place{"arrows", i}.text();
    if (arrow.through.size() < 2)
      fail(where, ".through: ", arrow.through.size(), " points; accepted: 2 or more");
    for (const Point& point : arrow.through) check_place({point.x, point.y}, where);
    check_text(arrow.label, where + ".label");
    check_weight(arrow.weight, where + ".weight");
  }
  for (std::size_t i = 0; i < map.notes.size(); ++i) {
    const std::string where = Place{"notes", i}.text();
    check_text(map.notes[i].text, where + ".text");
    check_place({map.notes[i].x, map.notes[i].y}, where);
  }
  for (std::size_t i = 0; i < map.grids.size(); ++i)
    check(map.grids[i], Place{"grids", i}.text());
}

}  // namespace

void validate(const Map& map) {
  check_text(title_of(map), "title");
  check_text(caption_of(map), "caption");
  std::visit([](const auto& kind) { check(kind); }, map);
}

const std::string& title_of(const Map& map) {
  return std::visit([](const auto& kind) -> const std::string& { return kind.title; }, map);
}

const std::string& caption_of(const Map& map) {
  return std::visit([](const auto& kind) -> const std::string& { return kind.caption; }, map);
}

}  // namespace attn::maps
