// Reads a map from JSON; every error names the path of the value.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/maps/base64.hpp"
#include "attn/maps/map.hpp"
#include "maps/names.hpp"

namespace attn::maps {
namespace {

using nlohmann::json;

/// 5,000 x 5,000 weights with nine digits each.
constexpr std::size_t kMostJsonBytes = std::size_t{320} << 20;

/// A value and the path to it, for messages: "map: weights[3]".
class Node {
 public:
  Node(const json& value, std::string where) : value_(&value), where_(std::move(where)) {}

  Node operator[](std::string_view key) const {
    return {files::member(*value_, key, place()), inner(key)};
  }
  std::optional<Node> find(const std::string& key) const {
    if (!value_->is_object()) files::member(*value_, key, place());  // throws
    const auto at = value_->find(key);
    if (at == value_->end()) return std::nullopt;
    return Node{*at, inner(key)};
  }

  std::string text() const { return files::to_text(*value_, place()); }
  double number() const {
    const double number = files::to_double(*value_, place());
    if (!std::isfinite(number)) wrong("a number beyond all", "finite numbers");
    return number;
  }
  float weight() const { return static_cast<float>(number()); }
  bool flag(const std::string& key) const {
    const auto member = find(key);
    if (!member) return false;
    if (!member->value_->is_boolean())
      member->wrong(member->value_->type_name(), "true or false");
    return member->value_->get<bool>();
  }
  std::int64_t integer() const { return files::to_int(*value_, place()); }
  /// A count or a size.
  std::size_t size(std::size_t most) const {
    const std::int64_t number = integer();
    if (number < 0 || static_cast<std::uint64_t>(number) > most)
      wrong(std::to_string(number), "0 to " + std::to_string(most));
    return static_cast<std::size_t>(number);
  }

  /// The elements of an array, each read by `read`.
  template <class Read>
  auto list(const Read& read) const {
    std::vector<decltype(read(*this))> result;
    const auto& elements = array();
    result.reserve(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) result.push_back(read(element(i)));
    return result;
  }
  /// The same for plain numbers, without a path for each.
  std::vector<double> numbers() const {
    const auto& elements = array();
    std::vector<double> result(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) result[i] = number_at(i);
    return result;
  }
  Labels texts() const {
    return list([](const Node& node) { return node.text(); });
  }

  /// A matrix whose sizes the labels give.
  Matrix matrix(std::size_t rows, std::size_t columns) const {
    const auto& elements = array();
    if (elements.size() != rows)
      wrong(std::to_string(elements.size()) + " rows", std::to_string(rows));
    Matrix result{rows, columns, {}};
    result.values.reserve(rows * columns);
    for (std::size_t i = 0; i < rows; ++i) element(i).append_row(columns, result.values);
    return result;
  }

  void append_row(std::size_t columns, std::vector<float>& values) const {
    const auto& elements = array();
    if (elements.size() != columns)
      wrong(std::to_string(elements.size()) + " numbers in a row", std::to_string(columns));
    for (std::size_t i = 0; i < columns; ++i)
      values.push_back(static_cast<float>(number_at(i)));
  }

  [[noreturn]] void wrong(const std::string& seen, const std::string& accepted) const {
    fail<FileError>(place(), ": ", seen, "; accepted: ", accepted);
  }

 private:
  const json::array_t& array() const {
    if (!value_->is_array()) wrong(value_->type_name(), "an array");
    return value_->get_ref<const json::array_t&>();
  }
  Node element(std::size_t i) const {
    return {array()[i], where_ + '[' + std::to_string(i) + ']'};
  }
  double number_at(std::size_t i) const {
    const json& value = (*value_)[i];
    if (value.is_number()) {
      const auto number = value.get<double>();
      if (std::isfinite(number)) return number;
    }
    return element(i).number();
  }
  /// What errors begin with, before their own colon.
  std::string place() const {
    return where_.substr(0, where_.size() - (where_.ends_with(':') ? 1 : 0));
  }
  std::string inner(std::string_view key) const {
    const bool outermost = where_.ends_with(':');
    return where_ + (outermost ? " " : ".") + std::string(key);
  }

  const json* value_;
  std::string where_;
};

std::string text_or_none(const Node& node, const std::string& key) {
  const auto member = node.find(key);
  return member ? member->text() : "";
}

Alignment parse_alignment(const Node& node) {
  Alignment map;
  map.rows = node["rows"].texts();
  map.columns = node["columns"].texts();
  map.row_title = text_or_none(node, "row_title");
  map.column_title = text_or_none(node, "column_title");
  map.weights = node["weights"].matrix(map.rows.size(), map.columns.size());
  return map;
}

std::optional<Labels> labels_or_none(const Node& node, const std::string& key) {
  const auto member = node.find(key);
  if (!member) return std::nullopt;
  return member->texts();
}

Heads parse_heads(const Node& node) {
  Heads map;
  // Where every head has labels of its own, none are needed for all.
  map.rows = labels_or_none(node, "rows").value_or(Labels{});
  map.columns = labels_or_none(node, "columns").value_or(Labels{});
  map.maps = node["maps"].list([&](const Node& one) {
    Head head;
    head.part = one["part"].text();
    head.layer = one["layer"].integer();
    head.head = one["head"].integer();
    head.rows = labels_or_none(one, "rows");
    head.columns = labels_or_none(one, "columns");
    head.weights = one["weights"].matrix((head.rows ? *head.rows : map.rows).size(),
                                         (head.columns ? *head.columns : map.columns).size());
    return head;
  });
  return map;
}

Point parse_point(const Node& node) {
  const auto pair = node.numbers();
  if (pair.size() != 2) node.wrong(std::to_string(pair.size()) + " numbers", "[x, y]");
  return {pair[0], pair[1]};
}

Curve parse_curve(const Node& node) {
  Curve map;
  map.x_title = text_or_none(node, "x_title");
  map.y_title = text_or_none(node, "y_title");
  map.points = node["points"].list(parse_point);
  map.lines = node["lines"].list([](const Node& one) {
    return Line{one["name"].text(), one["x"].numbers(), one["y"].numbers()};
  });
  if (const auto queries = node.find("queries")) {
    map.queries = queries->numbers();
    map.weights =
        node["weights"].matrix(map.queries.size(), map.queries.empty() ? 0 : map.points.size());
  }
  return map;
}

Document parse_document(const Node& node) {
  Document map;
  map.sentences = node["sentences"].list([](const Node& one) {
    return Sentence{one["weight"].weight(), one["words"].list([](const Node& word) {
                      return Word{word["text"].text(), word["weight"].weight()};
                    })};
  });
  return map;
}

Step parse_step(const Node& node) {
  Step step;
  step.label = text_or_none(node, "label");
  if (const auto grid = node.find("grid")) {
    Matrix matrix{(*grid)["rows"].size(kMostSide), (*grid)["columns"].size(kMostSide), {}};
    (*grid)["weights"].append_row(matrix.rows * matrix.columns, matrix.values);
    step.grid = std::move(matrix);
  }
  if (const auto boxes = node.find("boxes"))
    step.boxes = boxes->list([](const Node& one) {
      Box box{one["x"].number(),      one["y"].number(), one["width"].number(),
              one["height"].number(), std::nullopt,      text_or_none(one, "label")};
      if (const auto weight = one.find("weight")) box.weight = weight->weight();
      return box;
    });
  if (const auto path = node.find("path")) step.path = path->list(parse_point);
  return step;
}

Image parse_image(const Node& node) {
  Image map;
  map.width = node["width"].size(kMostSide);
  map.height = node["height"].size(kMostSide);
  map.channels = node["channels"].size(3);
  const Node pixels = node["pixels"];
  auto bytes = from_base64(pixels.text());
  if (!bytes) pixels.wrong("text that is not base64", "base64 with padding, on one line");
  map.pixels = std::move(*bytes);
  map.steps = node["steps"].list(parse_step);
  return map;
}

/// "left" where it is left out.
Axis parse_axis(const Node& node) {
  const auto axis = node.find("axis");
  if (!axis) return Axis::left;
  const std::string side = axis->text();
  if (side != "left" && side != "right")
    axis->wrong(files::in_quotes(side), "\"left\" or \"right\"");
  return side == "left" ? Axis::left : Axis::right;
}

Training parse_training(const Node& node) {
  Training map;
  map.x_title = text_or_none(node, "x_title");
  map.left_title = text_or_none(node, "left_title");
  map.right_title = text_or_none(node, "right_title");
  map.series = node["series"].list([](const Node& one) {
    return Series{one["name"].text(), one["x"].numbers(), one["y"].numbers(), parse_axis(one)};
  });
  if (const auto marks = node.find("marks"))
    map.marks = marks->list([](const Node& one) {
      return Mark{text_or_none(one, "label"), one["x"].number(), one["y"].number(),
                  parse_axis(one)};
    });
  return map;
}

Bars parse_bars(const Node& node) {
  Bars map;
  map.value_title = text_or_none(node, "value_title");
  map.groups = node["groups"].texts();
  map.series = node["series"].list(
      [](const Node& one) { return BarSeries{one["name"].text(), one["values"].numbers()}; });
  return map;
}

/// Words of a sentence, at most: more are no picture.
constexpr std::size_t kMostWords = 1000000;

Arcs parse_arcs(const Node& node) {
  Arcs map;
  map.words = node["words"].texts();
  map.tags = labels_or_none(node, "tags").value_or(Labels{});
  map.arcs = node["arcs"].list([](const Node& one) {
    Arc arc{one["head"].size(kMostWords), one["dependent"].size(kMostWords),
            text_or_none(one, "label")};
    if (const auto weight = one.find("weight")) arc.weight = weight->weight();
    return arc;
  });
  return map;
}

Speech parse_speech(const Node& node) {
  Speech map;
  map.begin = node["begin"].number();
  map.seconds = node["seconds"].number();
  map.hertz = node["hertz"].number();
  const std::size_t bands = node["bands"].size(kMostSide);
  const std::size_t columns = node["columns"].size(kMostSide);
  map.words = node["words"].texts();
  map.begins = node["begins"].numbers();
  map.ends = node["ends"].numbers();
  map.spectrogram = node["spectrogram"].matrix(bands, columns);
  map.weights = node["weights"].matrix(map.words.size(), columns);
  return map;
}

/// One of the names that `name_of` gives, or the first where it is left out.
template <class Choice>
Choice parse_choice(const Node& node, const std::string& key, std::span<const Choice> all) {
  const auto member = node.find(key);
  if (!member) return all.front();
  const std::string name = member->text();
  std::string known;
  for (const Choice choice : all) {
    if (name_of(choice) == name) return choice;
    known += (known.empty() ? "\"" : ", \"") + std::string(name_of(choice)) + '"';
  }
  member->wrong(files::in_quotes(name), known);
}

Role parse_role(const Node& node) {
  return parse_choice<Role>(node, "role", kRoles);
}

Grid parse_grid(const Node& node) {
  Grid grid{.x = node["x"].number(),
            .y = node["y"].number(),
            .cell_width = node["cell_width"].number(),
            .cell_height = node["cell_height"].number(),
            .rows = node["rows"].texts(),
            .columns = node["columns"].texts(),
            .weights = {},
            .numbers = node.flag("numbers")};
  grid.weights = node["weights"].matrix(grid.rows.size(), grid.columns.size());
  return grid;
}

Diagram parse_diagram(const Node& node) {
  Diagram map;
  map.parts = node["parts"].list([](const Node& one) {
    return Part{one["x"].number(),      one["y"].number(),   one["width"].number(),
                one["height"].number(), one["label"].text(), text_or_none(one, "detail"),
                parse_role(one)};
  });
  map.arrows = node["arrows"].list([](const Node& one) {
    Arrow arrow{one["through"].list(parse_point), text_or_none(one, "label"), parse_role(one)};
    if (const auto weight = one.find("weight")) arrow.weight = weight->weight();
    return arrow;
  });
  map.notes = node["notes"].list([](const Node& one) {
    return Note{one["x"].number(),  one["y"].number(),
                one["text"].text(), parse_choice<NoteAnchor>(one, "anchor", kAnchors),
                parse_role(one),    one.flag("strong")};
  });
  map.grids = node["grids"].list(parse_grid);
  return map;
}

template <class Kind>
Map named(Kind map, const Node& node) {
  map.title = text_or_none(node, "title");
  map.caption = text_or_none(node, "caption");
  return map;
}

struct Reader {
  std::string_view kind;
  Map (*read)(const Node&);
};
constexpr std::array kReaders{
    Reader{"alignment", [](const Node& node) { return named(parse_alignment(node), node); }},
    Reader{"heads", [](const Node& node) { return named(parse_heads(node), node); }},
    Reader{"curve", [](const Node& node) { return named(parse_curve(node), node); }},
    Reader{"document", [](const Node& node) { return named(parse_document(node), node); }},
    Reader{"image", [](const Node& node) { return named(parse_image(node), node); }},
    Reader{"training", [](const Node& node) { return named(parse_training(node), node); }},
    Reader{"bars", [](const Node& node) { return named(parse_bars(node), node); }},
    Reader{"arcs", [](const Node& node) { return named(parse_arcs(node), node); }},
    Reader{"diagram", [](const Node& node) { return named(parse_diagram(node), node); }},
    Reader{"speech", [](const Node& node) { return named(parse_speech(node), node); }},
};

Map parse_kind(const Node& node) {
  if (const auto version = node["attn_map"].integer(); version != 1)
    node["attn_map"].wrong("version " + std::to_string(version), "1");
  const std::string kind = node["kind"].text();
  const auto at = std::find_if(kReaders.begin(), kReaders.end(),
                               [&](const Reader& reader) { return reader.kind == kind; });
  if (at != kReaders.end()) return at->read(node);
  std::string known;
  for (const Reader& reader : kReaders)
    known += (known.empty() ? "" : ", ") + std::string(reader.kind);
  node["kind"].wrong(files::in_quotes(kind), known);
}

}  // namespace

Map parse_map(std::string_view text, std::string_view where) {
  const std::string begin = std::string(where) + ":";
  const json value = files::parse_json(text, where, {.max_bytes = kMostJsonBytes});
  Map map = parse_kind(Node(value, begin));
  try {
    validate(map);
  } catch (const InvalidArgument& error) {
    fail<FileError>(begin, " ", error.what());
  }
  return map;
}

Map read_map(const std::filesystem::path& path) {
  return parse_map(files::read_text(path, kMostJsonBytes), files::path_text(path));
}

}  // namespace attn::maps
