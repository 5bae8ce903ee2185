// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/word_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

using maps::Matrix;

constexpr std::size_t kMedian = 7;  // frames, some 0.17 s

enum class Move : std::uint8_t { none, down, on, both };

/// Each column with mean 0 and deviation 1, so that frames that every row looks at count no
/// more than others.
Matrix by_column(Matrix weights) {
  const auto rows = static_cast<double>(weights.rows);
  for (std::size_t column = 0; column < weights.columns; ++column) {
    double mean = 0.0;
    double square = 0.0;
    for (std::size_t row = 0; row < weights.rows; ++row) {
      const auto x = static_cast<double>(weights.at(row, column));
      mean += x / rows;
      square += x * x / rows;
    }
    const double deviation = std::sqrt(std::max(square - mean * mean, 0.0));
    constexpr double kLeast = 1e-6;
    for (std::size_t row = 0; row < weights.rows; ++row) {
      float& x = weights.values[row * weights.columns + column];
      x = static_cast<float>((static_cast<double>(x) - mean) / (deviation + kLeast));
    }
  }
  return weights;
}

std::vector<Matrix> heads_of(std::span<const Tensor> layers) {
  std::vector<Matrix> heads;
  for (const Tensor& layer : layers)
    for (std::int64_t head = 0; head < layer.size(0); ++head)
      heads.push_back({static_cast<std::size_t>(layer.size(1)),
                       static_cast<std::size_t>(layer.size(2)),
                       layer.select(0, head).to_vector<float>()});
  return heads;
}

std::vector<Matrix> sharpest(std::span<const Tensor> layers, std::size_t count) {
  std::vector<Matrix> heads = heads_of(layers);
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i) order.emplace_back(-sharpness(heads[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<Matrix> best;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i)
    best.push_back(std::move(heads[order[i].second]));
  return best;
}

Matrix mean_of(const std::vector<Matrix>& all) {
  if (all.empty()) return {};
  Matrix mean{all[0].rows, all[0].columns, std::vector<float>(all[0].values.size(), 0.0f)};
  for (const Matrix& one : all)
    for (std::size_t i = 0; i < one.values.size(); ++i)
      mean.values[i] += one.values[i] / static_cast<float>(all.size());
  return mean;
}

}  // namespace

std::vector<std::size_t> monotone_path(const Matrix& gains) {
  const std::size_t rows = gains.rows;
  const std::size_t columns = gains.columns;
  if (rows == 0 || columns == 0) return std::vector<std::size_t>(rows, 0);
  std::vector<double> above(columns);
  std::vector<double> now(columns);
  std::vector<Move> moves(rows * columns, Move::none);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      double best = 0.0;
      Move move = Move::none;
      const auto offer = [&](double sum, Move how) {
        if (move != Move::none && sum <= best) return;
        best = sum;
        move = how;
      };
      if (row > 0 && column > 0) offer(above[column - 1], Move::both);
      if (column > 0) offer(now[column - 1], Move::on);
      if (row > 0) offer(above[column], Move::down);
      now[column] = best + static_cast<double>(gains.at(row, column));
      moves[row * columns + column] = move;
    }
    std::swap(above, now);
  }
  std::vector<std::size_t> first(rows, 0);
  std::size_t row = rows - 1;
  std::size_t column = columns - 1;
  for (;;) {
    first[row] = column;
    const Move move = moves[row * columns + column];
    if (move == Move::none) break;
    if (move != Move::on) --row;
    if (move != Move::down) --column;
  }
  return first;
}

Matrix median_filtered(const Matrix& matrix, std::size_t width) {
  Matrix result = matrix;
  const auto columns = static_cast<std::int64_t>(matrix.columns);
  const auto half = static_cast<std::int64_t>(width / 2);
  if (columns <= half) return result;
  std::vector<float> around(width);
  for (std::size_t row = 0; row < matrix.rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      for (std::int64_t i = -half; i <= half; ++i) {
        std::int64_t at = std::abs(column + i);
        if (at >= columns) at = 2 * (columns - 1) - at;
        around[static_cast<std::size_t>(i + half)] =
            matrix.at(row, static_cast<std::size_t>(at));
      }
      std::nth_element(around.begin(), around.begin() + half, around.end());
      result.values[row * matrix.columns + static_cast<std::size_t>(column)] =
          around[static_cast<std::size_t>(half)];
    }
  return result;
}

double sharpness(const Matrix& weights, std::size_t near) {
  if (weights.rows == 0 || weights.columns == 0) return 0.0;
  const std::vector<std::size_t> path = monotone_path(weights);
  double sum = 0.0;
  for (std::size_t row = 0; row < weights.rows; ++row) {
    const std::size_t begin = path[row] > near ? path[row] - near : 0;
    const std::size_t next = row + 1 < weights.rows ? path[row + 1] : weights.columns - 1;
    const std::size_t end = std::min(next + near + 1, weights.columns);
    for (std::size_t column = begin; column < end; ++column)
      sum += static_cast<double>(weights.at(row, column));
  }
  return sum / static_cast<double>(weights.rows);
}

Matrix alignment_gains(std::span<const Tensor> layers, std::size_t count) {
  std::vector<Matrix> heads = sharpest(layers, count);
  for (Matrix& head : heads) head = median_filtered(by_column(std::move(head)), kMedian);
  return mean_of(heads);
}

Matrix alignment_weights(std::span<const Tensor> layers, std::size_t count) {
  return mean_of(sharpest(layers, count));
}

}  // namespace attn::tasks
