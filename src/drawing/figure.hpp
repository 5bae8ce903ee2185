/// A picture's middle, between its title and its caption.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>

#include "attn/maps/map.hpp"
#include "drawing/canvas.hpp"

namespace attn::drawing {

/// Looks into the map it was made of, which must outlive it.
class Figure {
 public:
  Figure() = default;
  virtual ~Figure() = default;
  Figure(const Figure&) = delete;
  Figure& operator=(const Figure&) = delete;

  /// Decides where everything goes; called once, before paint.
  virtual Size layout(Canvas& canvas) = 0;
  virtual void paint(Canvas& canvas, double x, double y) = 0;
  /// What the caption has to add: that something was pooled or left out.
  virtual std::string remark() const { return ""; }
};

// `width` is what is there between the margins.
std::unique_ptr<Figure> figure_of(const maps::Alignment& map, double width);
std::unique_ptr<Figure> figure_of(const maps::Heads& map, double width);
std::unique_ptr<Figure> figure_of(const maps::Curve& map, double width);
std::unique_ptr<Figure> figure_of(const maps::Document& map, double width);
std::unique_ptr<Figure> figure_of(const maps::Image& map, double width);
std::unique_ptr<Figure> figure_of(const maps::Training& map, double width);
std::unique_ptr<Figure> figure_of(const maps::Bars& map, double width);
std::unique_ptr<Figure> figure_of(const maps::Arcs& map, double width);
std::unique_ptr<Figure> figure_of(const maps::Diagram& map, double width);
std::unique_ptr<Figure> figure_of(const maps::Speech& map, double width);

/// One matrix with its labels.
struct MatrixView {
  const maps::Matrix* weights;
  const maps::Labels* rows;
  const maps::Labels* columns;
  std::string row_title;
  std::string column_title;
};
std::unique_ptr<Figure> matrix_figure(const MatrixView& map, double width);

/// A frame that says that there is nothing, and what was missing.
std::unique_ptr<Figure> empty_figure(std::string why);

}  // namespace attn::drawing
