// SPDX-License-Identifier: Apache-2.0

#include "attn/maps/pooled.hpp"

#include <algorithm>
#include <cstddef>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"

namespace attn::maps {
namespace {

float block(const Matrix& matrix, std::size_t row, std::size_t row_end, std::size_t column,
            std::size_t column_end) {
  float largest = 0.0f;
  for (std::size_t i = row; i < row_end; ++i)
    for (std::size_t j = column; j < column_end; ++j)
      largest = std::max(largest, matrix.at(i, j));
  return largest;
}

}  // namespace

Matrix pooled(const Matrix& matrix, std::size_t rows, std::size_t columns) {
  if (rows == 0 || columns == 0)
    fail("attn::maps::pooled: ", rows, " x ", columns, " blocks; accepted: 1 or more");
  if (matrix.rows <= rows && matrix.columns <= columns) return matrix;
  Matrix result{std::min(rows, matrix.rows), std::min(columns, matrix.columns), {}};
  result.values.reserve(result.rows * result.columns);
  for (std::size_t i = 0; i < result.rows; ++i)
    for (std::size_t j = 0; j < result.columns; ++j)
      result.values.push_back(block(matrix, block_begin(i, result.rows, matrix.rows),
                                    block_begin(i + 1, result.rows, matrix.rows),
                                    block_begin(j, result.columns, matrix.columns),
                                    block_begin(j + 1, result.columns, matrix.columns)));
  return result;
}

}  // namespace attn::maps
