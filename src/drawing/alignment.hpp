/// The figure of one matrix with its labels.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>

#include "attn/maps/map.hpp"
#include "drawing/figure.hpp"

namespace attn::drawing {

struct MatrixView {
  const maps::Matrix* weights;
  const maps::Labels* rows;
  const maps::Labels* columns;
  std::string row_title;
  std::string column_title;
};

std::unique_ptr<Figure> matrix_figure(const MatrixView& map, double width);

}  // namespace attn::drawing
