/// The concept figures of attention as maps: boxes, arrows and the library's own numbers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "attn/maps/map.hpp"

namespace attn::tools {

struct NamedDiagram {
  std::string_view name;
  std::string_view title;
  maps::Diagram (*draw)();
};

/// In the order in which they are taught.
std::span<const NamedDiagram> diagrams();

// Each is one file, or stands beside its like.
maps::Diagram cues_diagram();
maps::Diagram query_key_value_diagram();
maps::Diagram scores_diagram();
maps::Diagram seq2seq_diagram();
maps::Diagram seq2seq_attention_diagram();
maps::Diagram architectures_diagram();
maps::Diagram multi_head_diagram();
maps::Diagram transformer_diagram();

/// A diagram under way.
class Sheet {
 public:
  Sheet(std::string title, std::string caption);

  /// Adds a box and gives it back, for its edges.
  maps::Part part(double x, double y, double width, double height, std::string label,
                  maps::Role role, std::string detail = {});
  void arrow(std::initializer_list<maps::Point> through, maps::Role role = maps::Role::plain,
             std::string label = {}, float weight = 1.0f);
  void note(double x, double y, std::string text,
            maps::NoteAnchor anchor = maps::NoteAnchor::centre,
            maps::Role role = maps::Role::plain);
  void heading(double x, double y, std::string text);

  maps::Diagram take() { return std::move(diagram_); }

 private:
  maps::Diagram diagram_;
};

// The middles of a box's edges.
maps::Point above(const maps::Part& part);
maps::Point below(const maps::Part& part);
maps::Point left_of(const maps::Part& part);
maps::Point right_of(const maps::Part& part);

/// "0.25": two digits.
std::string two_digits(double number);

}  // namespace attn::tools
