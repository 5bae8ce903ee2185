// Writes a map as JSON with the fewest digits that read back equal.

// SPDX-License-Identifier: Apache-2.0

#include <charconv>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "attn/maps/base64.hpp"
#include "attn/maps/map.hpp"
#include "maps/names.hpp"

namespace attn::maps {
namespace {

/// Writes JSON from left to right. Numbers take the fewest digits that read back equal, as
/// float for weights: nlohmann knows double alone and would write 0.1f as 0.10000000149011612.
class Writer {
 public:
  std::string take() { return std::move(text_); }

  Writer& key(std::string_view name) {
    if (text_.back() != '{') text_ += ',';
    return value(std::string(name)).raw(":");
  }
  Writer& raw(std::string_view text) {
    text_ += text;
    return *this;
  }
  Writer& value(const std::string& text) { return raw(nlohmann::json(text).dump()); }
  Writer& value(bool flag) { return raw(flag ? "true" : "false"); }
  template <class Number>
  Writer& value(Number number)
    requires std::is_arithmetic_v<Number>
  {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof(digits), number);
    return raw({digits, end.ptr});
  }
  Writer& value(const Point& point) {
    return raw("[").value(point.x).raw(",").value(point.y).raw("]");
  }

  /// Members by name, value, name, value, ...; an optional one that is empty is left out.
  template <class Value, class... Rest>
  Writer& members(std::string_view name, const Value& one, const Rest&... rest) {
    key(name).value(one);
    if constexpr (sizeof...(rest) > 0) members(rest...);
    return *this;
  }
  template <class Value, class... Rest>
  Writer& members(std::string_view name, const std::optional<Value>& one, const Rest&... rest) {
    if (one) key(name).value(*one);
    if constexpr (sizeof...(rest) > 0) members(rest...);
    return *this;
  }
  template <class... Parts>
  Writer& object(const Parts&... parts) {
    return raw("{").members(parts...).raw("}");
  }

  template <class T, class Each>
  Writer& list(const T& elements, const Each& each) {
    text_ += '[';
    bool first = true;
    for (const auto& element : elements) {
      if (!first) text_ += ',';
      first = false;
      each(element);
    }
    return raw("]");
  }
  template <class T>
  Writer& value(const std::vector<T>& elements) {
    return list(elements, [this](const T& element) { value(element); });
  }
  Writer& value(const Matrix& matrix) {
    text_ += '[';
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      if (row > 0) text_ += ',';
      text_ += '[';
      for (std::size_t column = 0; column < matrix.columns; ++column) {
        if (column > 0) text_ += ',';
        value(matrix.at(row, column));
      }
      text_ += ']';
    }
    return raw("]");
  }

 private:
  std::string text_;
};

void write(const Alignment& map, Writer& out) {
  out.members("row_title", map.row_title, "column_title", map.column_title, "rows", map.rows,
              "columns", map.columns, "weights", map.weights);
}

void write(const Heads& map, Writer& out) {
  out.members("rows", map.rows, "columns", map.columns);
  out.key("maps").list(map.maps, [&](const Head& head) {
    out.object("part", head.part, "layer", head.layer, "head", head.head, "rows", head.rows,
               "columns", head.columns, "weights", head.weights);
  });
}

void write(const Curve& map, Writer& out) {
  out.members("x_title", map.x_title, "y_title", map.y_title, "points", map.points);
  out.key("lines").list(map.lines, [&](const Line& line) {
    out.object("name", line.name, "x", line.x, "y", line.y);
  });
  if (!map.queries.empty()) out.members("queries", map.queries, "weights", map.weights);
}

void write(const Document& map, Writer& out) {
  out.key("sentences").list(map.sentences, [&](const Sentence& sentence) {
    out.raw("{").members("weight", sentence.weight).key("words");
    out.list(sentence.words,
             [&](const Word& word) { out.object("text", word.text, "weight", word.weight); });
    out.raw("}");
  });
}

void write(const Box& box, Writer& out) {
  out.raw("{").members("x", box.x, "y", box.y, "width", box.width, "height", box.height,
                       "weight", box.weight);
  if (!box.label.empty()) out.members("label", box.label);
  out.raw("}");
}

void write(const Image& map, Writer& out) {
  out.members("width", map.width, "height", map.height, "channels", map.channels, "pixels",
              to_base64(map.pixels));
  out.key("steps").list(map.steps, [&](const Step& step) {
    out.raw("{").members("label", step.label);
    if (step.grid)
      out.key("grid").object("rows", step.grid->rows, "columns", step.grid->columns, "weights",
                             step.grid->values);
    if (!step.boxes.empty())
      out.key("boxes").list(step.boxes, [&](const Box& box) { write(box, out); });
    if (!step.path.empty()) out.members("path", step.path);
    out.raw("}");
  });
}

void write(const Training& map, Writer& out) {
  const auto side = [](Axis axis) {
    return std::string(axis == Axis::left ? "left" : "right");
  };
  out.members("x_title", map.x_title, "left_title", map.left_title, "right_title",
              map.right_title);
  out.key("series").list(map.series, [&](const Series& series) {
    out.object("name", series.name, "x", series.x, "y", series.y, "axis", side(series.axis));
  });
  out.key("marks").list(map.marks, [&](const Mark& mark) {
    out.object("label", mark.label, "x", mark.x, "y", mark.y, "axis", side(mark.axis));
  });
}

void write(const Bars& map, Writer& out) {
  out.members("value_title", map.value_title, "groups", map.groups);
  out.key("series").list(map.series, [&](const BarSeries& series) {
    out.object("name", series.name, "values", series.values);
  });
}

void write(const Arcs& map, Writer& out) {
  out.members("words", map.words, "tags", map.tags);
  out.key("arcs").list(map.arcs, [&](const Arc& arc) {
    out.object("head", arc.head, "dependent", arc.dependent, "label", arc.label, "weight",
               arc.weight);
  });
}

void write(const Diagram& map, Writer& out) {
  const auto role = [](Role one) { return std::string(name_of(one)); };
  out.key("parts").list(map.parts, [&](const Part& part) {
    out.object("x", part.x, "y", part.y, "width", part.width, "height", part.height, "label",
               part.label, "detail", part.detail, "role", role(part.role));
  });
  out.key("arrows").list(map.arrows, [&](const Arrow& arrow) {
    out.object("through", arrow.through, "label", arrow.label, "role", role(arrow.role),
               "weight", arrow.weight);
  });
  out.key("notes").list(map.notes, [&](const Note& note) {
    out.object("x", note.x, "y", note.y, "text", note.text, "anchor",
               std::string(name_of(note.anchor)), "role", role(note.role), "strong",
               note.strong);
  });
  out.key("grids").list(map.grids, [&](const Grid& grid) {
    out.object("x", grid.x, "y", grid.y, "cell_width", grid.cell_width, "cell_height",
               grid.cell_height, "rows", grid.rows, "columns", grid.columns, "weights",
               grid.weights, "numbers", grid.numbers);
  });
}

void write(const Speech& map, Writer& out) {
  out.members("begin", map.begin, "seconds", map.seconds, "hertz", map.hertz, "bands",
              map.spectrogram.rows, "columns", map.spectrogram.columns, "words", map.words,
              "begins", map.begins, "ends", map.ends, "spectrogram", map.spectrogram, "weights",
              map.weights);
}

/// In the order of the variant.
constexpr std::string_view kKinds[] = {"alignment", "heads", "curve", "document", "image",
                                       "training",  "bars",  "arcs",  "diagram",  "speech"};
static_assert(std::size(kKinds) == std::variant_size_v<Map>);

}  // namespace

std::string_view name_of(Role role) {
  constexpr std::string_view kNames[] = {"plain", "query", "key", "value", "score", "output"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string_view name_of(NoteAnchor anchor) {
  constexpr std::string_view kNames[] = {"left", "centre", "right"};
  return kNames[static_cast<std::size_t>(anchor)];
}

std::string to_json(const Map& map) {
  validate(map);
  Writer out;
  out.raw("{").members("attn_map", 1, "kind", std::string(kKinds[map.index()]), "title",
                       title_of(map), "caption", caption_of(map));
  std::visit([&](const auto& kind) { write(kind, out); }, map);
  return out.raw("}").take();
}

}  // namespace attn::maps
