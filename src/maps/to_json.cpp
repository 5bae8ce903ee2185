// Writes a map as JSON with the fewest digits that read back equal.

// SPDX-License-Identifier: Apache-2.0

#include <charconv>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "attn/maps/base64.hpp"
#include "attn/maps/map.hpp"

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
  out.key("row_title").value(map.row_title);
  out.key("column_title").value(map.column_title);
  out.key("rows").value(map.rows);
  out.key("columns").value(map.columns);
  out.key("weights").value(map.weights);
}

void write(const Heads& map, Writer& out) {
  out.key("rows").value(map.rows);
  out.key("columns").value(map.columns);
  out.key("maps").list(map.maps, [&](const Head& head) {
    out.raw("{").key("part").value(head.part);
    out.key("layer").value(head.layer);
    out.key("head").value(head.head);
    if (head.rows) out.key("rows").value(*head.rows);
    if (head.columns) out.key("columns").value(*head.columns);
    out.key("weights").value(head.weights).raw("}");
  });
}

void write(const Curve& map, Writer& out) {
  out.key("x_title").value(map.x_title);
  out.key("y_title").value(map.y_title);
  out.key("points").value(map.points);
  out.key("lines").list(map.lines, [&](const Line& line) {
    out.raw("{").key("name").value(line.name);
    out.key("x").value(line.x);
    out.key("y").value(line.y).raw("}");
  });
  if (map.queries.empty()) return;
  out.key("queries").value(map.queries);
  out.key("weights").value(map.weights);
}

void write(const Document& map, Writer& out) {
  out.key("sentences").list(map.sentences, [&](const Sentence& sentence) {
    out.raw("{").key("weight").value(sentence.weight);
    out.key("words").list(sentence.words, [&](const Word& word) {
      out.raw("{").key("text").value(word.text);
      out.key("weight").value(word.weight).raw("}");
    });
    out.raw("}");
  });
}

void write(const Box& box, Writer& out) {
  out.raw("{").key("x").value(box.x);
  out.key("y").value(box.y);
  out.key("width").value(box.width);
  out.key("height").value(box.height);
  if (box.weight) out.key("weight").value(*box.weight);
  if (!box.label.empty()) out.key("label").value(box.label);
  out.raw("}");
}

void write(const Image& map, Writer& out) {
  out.key("width").value(map.width);
  out.key("height").value(map.height);
  out.key("channels").value(map.channels);
  out.key("pixels").value(to_base64(map.pixels));
  out.key("steps").list(map.steps, [&](const Step& step) {
    out.raw("{").key("label").value(step.label);
    if (step.grid) {
      out.key("grid").raw("{").key("rows").value(step.grid->rows);
      out.key("columns").value(step.grid->columns);
      out.key("weights").value(step.grid->values).raw("}");
    }
    if (!step.boxes.empty())
      out.key("boxes").list(step.boxes, [&](const Box& box) { write(box, out); });
    out.raw("}");
  });
}

void write(const Training& map, Writer& out) {
  const auto side = [](Axis axis) {
    return std::string(axis == Axis::left ? "left" : "right");
  };
  out.key("x_title").value(map.x_title);
  out.key("left_title").value(map.left_title);
  out.key("right_title").value(map.right_title);
  out.key("series").list(map.series, [&](const Series& series) {
    out.raw("{").key("name").value(series.name);
    out.key("x").value(series.x);
    out.key("y").value(series.y);
    out.key("axis").value(side(series.axis)).raw("}");
  });
  out.key("marks").list(map.marks, [&](const Mark& mark) {
    out.raw("{").key("label").value(mark.label);
    out.key("x").value(mark.x);
    out.key("y").value(mark.y);
    out.key("axis").value(side(mark.axis)).raw("}");
  });
}

void write(const Bars& map, Writer& out) {
  out.key("value_title").value(map.value_title);
  out.key("groups").value(map.groups);
  out.key("series").list(map.series, [&](const BarSeries& series) {
    out.raw("{").key("name").value(series.name);
    out.key("values").value(series.values).raw("}");
  });
}

/// In the order of the variant.
constexpr std::string_view kKinds[] = {"alignment", "heads",    "curve", "document",
                                       "image",     "training", "bars"};
static_assert(std::size(kKinds) == std::variant_size_v<Map>);

}  // namespace

std::string to_json(const Map& map) {
  validate(map);
  Writer out;
  out.raw("{").key("attn_map").value(1);
  out.key("kind").value(std::string(kKinds[map.index()]));
  out.key("title").value(title_of(map));
  out.key("caption").value(caption_of(map));
  std::visit([&](const auto& kind) { write(kind, out); }, map);
  return out.raw("}").take();
}

}  // namespace attn::maps
