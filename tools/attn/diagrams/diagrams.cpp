#include "tools/attn/diagrams/diagrams.hpp"

#include <fmt/core.h>

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "attn/maps/map.hpp"

namespace attn::tools {

std::span<const NamedDiagram> diagrams() {
  static constexpr std::array kAll{
      NamedDiagram{"cues", "A wish looks at five things on a desk", cues_diagram},
      NamedDiagram{"query-key-value", "Queries, keys, values: one look into a memory",
                   query_key_value_diagram},
      NamedDiagram{"scores", "Four scoring functions", scores_diagram},
      NamedDiagram{"seq2seq", "Sequence to sequence through one context", seq2seq_diagram},
      NamedDiagram{"seq2seq-attention", "Sequence to sequence with attention",
                   seq2seq_attention_diagram},
      NamedDiagram{"architectures", "Convolution, recurrence, self-attention",
                   architectures_diagram},
      NamedDiagram{"multi-head", "Multi-head attention", multi_head_diagram},
      NamedDiagram{"transformer", "The Transformer", transformer_diagram},
  };
  return kAll;
}

Sheet::Sheet(std::string title, std::string caption) {
  diagram_.title = std::move(title);
  diagram_.caption = std::move(caption);
}

maps::Part Sheet::part(double x, double y, double width, double height, std::string label,
                       maps::Role role, std::string detail) {
  diagram_.parts.push_back({x, y, width, height, std::move(label), std::move(detail), role});
  return diagram_.parts.back();
}

void Sheet::arrow(std::initializer_list<maps::Point> through, maps::Role role,
                  std::string label, float weight) {
  diagram_.arrows.push_back({through, std::move(label), role, weight});
}

void Sheet::note(double x, double y, std::string text, maps::NoteAnchor anchor,
                 maps::Role role) {
  diagram_.notes.push_back({x, y, std::move(text), anchor, role, false});
}

void Sheet::heading(double x, double y, std::string text) {
  diagram_.notes.push_back(
      {x, y, std::move(text), maps::NoteAnchor::centre, maps::Role::plain, true});
}

maps::Point above(const maps::Part& part) {
  return {part.x + part.width / 2.0, part.y};
}
maps::Point below(const maps::Part& part) {
  return {part.x + part.width / 2.0, part.y + part.height};
}
maps::Point left_of(const maps::Part& part) {
  return {part.x, part.y + part.height / 2.0};
}
maps::Point right_of(const maps::Part& part) {
  return {part.x + part.width, part.y + part.height / 2.0};
}

std::string two_digits(double number) {
  return fmt::format("{:.2f}", number);
}

}  // namespace attn::tools
