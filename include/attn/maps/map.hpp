/// Map: attention weights with labels and a caption, one value for every kind of picture.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::maps {

using Labels = std::vector<std::string>;

/// Numbers in rows, one row after the other.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<float> values;

  float at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
  bool operator==(const Matrix&) const = default;
};

// In every kind, the caption says in words what is shown; it is the text of the legend.
// Labels are UTF-8; a subword's leading space is "▁". Weights lie in 0..1.

/// The weights of each target token (a row) over the source tokens (the columns).
struct Alignment {
  std::string title;
  std::string caption;
  Labels rows;
  Labels columns;
  std::string row_title;
  std::string column_title;
  Matrix weights;  ///< [rows, columns]
  bool operator==(const Alignment&) const = default;
};

/// One head of one layer. Labels of its own win over those of all.
struct Head {
  std::string part;  ///< "encoder", "decoder" or "cross"
  std::int64_t layer = 1;
  std::int64_t head = 1;
  Matrix weights;
  std::optional<Labels> rows;
  std::optional<Labels> columns;
  bool operator==(const Head&) const = default;
};

struct Heads {
  std::string title;
  std::string caption;
  Labels rows;
  Labels columns;
  std::vector<Head> maps;
  bool operator==(const Heads&) const = default;
};

struct Point {
  double x = 0.0;
  double y = 0.0;
  bool operator==(const Point&) const = default;
};

struct Line {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  bool operator==(const Line&) const = default;
};

/// Known points (the keys), lines through them, and how much each query took of each point.
struct Curve {
  std::string title;
  std::string caption;
  std::string x_title;
  std::string y_title;
  std::vector<Point> points;
  std::vector<Line> lines;
  std::vector<double> queries;
  Matrix weights;  ///< [queries, points]
  bool operator==(const Curve&) const = default;
};

struct Word {
  std::string text;
  float weight = 0.0f;
  bool operator==(const Word&) const = default;
};

struct Sentence {
  float weight = 1.0f;
  std::vector<Word> words;
  bool operator==(const Sentence&) const = default;
};

/// Words shaded by weight; one sentence of weight 1 where there is one level.
struct Document {
  std::string title;
  std::string caption;
  std::vector<Sentence> sentences;
  bool operator==(const Document&) const = default;
};

/// A rectangle in pixels of the image.
struct Box {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;
  std::optional<float> weight;
  std::string label;
  bool operator==(const Box&) const = default;
};

/// The weights of a model while it wrote `label`.
struct Step {
  std::string label;
  std::optional<Matrix> grid;  ///< laid over the whole picture
  std::vector<Box> boxes;
  std::vector<Point> path = {};  ///< places in pixels of the image, in the order of looking
  bool operator==(const Step&) const = default;
};

/// Pixels of an image or cells of a grid, along one side, at most.
inline constexpr std::size_t kMostSide = 16384;

struct Image {
  std::string title;
  std::string caption;
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 1;          ///< 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> pixels;  ///< [height, width, channels], the top row first
  std::vector<Step> steps;
  bool operator==(const Image&) const = default;
};

enum class Axis { left, right };

struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  Axis axis = Axis::left;
  bool operator==(const Series&) const = default;
};

/// A point to mark, such as the best step.
struct Mark {
  std::string label;
  double x = 0.0;
  double y = 0.0;
  Axis axis = Axis::left;
  bool operator==(const Mark&) const = default;
};

/// Training curves: losses, rates and scores over steps or time.
struct Training {
  std::string title;
  std::string caption;
  std::string x_title;
  std::vector<Series> series;
  std::string left_title = {};
  std::string right_title = {};
  std::vector<Mark> marks = {};
  bool operator==(const Training&) const = default;
};

struct BarSeries {
  std::string name;
  std::vector<double> values;  ///< one a group
  bool operator==(const BarSeries&) const = default;
};

/// A comparison: in each group a bar of every series.
struct Bars {
  std::string title;
  std::string caption;
  std::string value_title;
  Labels groups;
  std::vector<BarSeries> series;
  bool operator==(const Bars&) const = default;
};

/// From a word to one that depends on it, both counted from 1.
struct Arc {
  std::size_t head = 0;  ///< 0: the root, which is no word
  std::size_t dependent = 1;
  std::string label;
  float weight = 1.0f;
  bool operator==(const Arc&) const = default;
};

/// A sentence as a tree: arcs over its words, tags below them.
struct Arcs {
  std::string title;
  std::string caption;
  Labels words;
  Labels tags;  ///< one a word, or none at all
  std::vector<Arc> arcs;
  bool operator==(const Arcs&) const = default;
};

/// A sound as the words that were heard in it: its spectrogram, and below it what each word
/// looked at.
struct Speech {
  std::string title;
  std::string caption;
  double begin = 0.0;    ///< seconds, of the first column
  double seconds = 0.0;  ///< from there to the end of the last
  double hertz = 0.0;    ///< of the top of the spectrogram, whose bottom is 0
  Matrix spectrogram;    ///< [bands, columns], the highest band first, loud is 1
  Labels words;
  std::vector<double> begins;  ///< seconds, one a word
  std::vector<double> ends;
  Matrix weights;  ///< [words, columns]
  bool operator==(const Speech&) const = default;
};

/// What a part of a diagram stands for; its colour follows.
enum class Role { plain, query, key, value, score, output };
std::string_view name_of(Role role);

/// A box with a label, and a smaller line below it.
struct Part {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;
  std::string label;
  std::string detail = {};
  Role role = Role::plain;
  bool operator==(const Part&) const = default;
};

/// Through two points or more; thicker and darker the larger its weight.
struct Arrow {
  std::vector<Point> through;
  std::string label = {};
  Role role = Role::plain;
  float weight = 1.0f;
  bool operator==(const Arrow&) const = default;
};

enum class NoteAnchor { left, centre, right };

/// A line of text; `y` is its middle.
struct Note {
  double x = 0.0;
  double y = 0.0;
  std::string text;
  NoteAnchor anchor = NoteAnchor::left;
  Role role = Role::plain;
  bool strong = false;
  bool operator==(const Note&) const = default;
};

/// Weights in cells, with their labels above and to the left of (x, y).
struct Grid {
  double x = 0.0;
  double y = 0.0;
  double cell_width = 0.0;
  double cell_height = 0.0;
  Labels rows;
  Labels columns;
  Matrix weights;
  bool numbers = false;  ///< written into the cells
  bool operator==(const Grid&) const = default;
};

/// Along both axes of a diagram, in points.
inline constexpr double kLargestDiagram = 4000.0;

/// Boxes and arrows: how parts are joined. Places are points from the top left.
struct Diagram {
  std::string title;
  std::string caption;
  std::vector<Part> parts;
  std::vector<Arrow> arrows;
  std::vector<Note> notes;
  std::vector<Grid> grids;
  bool operator==(const Diagram&) const = default;
};

using Map = std::variant<Alignment, Heads, Curve, Document, Image, Training, Bars, Arcs,
                         Diagram, Speech>;

/// Throws InvalidArgument, with the path, unless sizes agree, numbers are finite, weights lie
/// in 0..1 and labels are UTF-8.
void validate(const Map& map);

/// The map that JSON text holds. FileError for anything else: it begins with `where` (a file
/// name, "request") and names the member.
Map parse_map(std::string_view text, std::string_view where = "map");
Map read_map(const std::filesystem::path& path);

/// One line of JSON that parse_map reads back equal. Validates first.
std::string to_json(const Map& map);

const std::string& title_of(const Map& map);
const std::string& caption_of(const Map& map);

}  // namespace attn::maps
