// The kernels on rows in double, as the formulas read: for gradient checks, and the definition
// that the vector kernels are compared with.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/cpu/rows_table.hpp"

namespace attn::cpu {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

/// The largest; a NaN does not count, it shows in the sum.
double top_of(std::int64_t count, const double* x, const bool* keep) {
  double top = kNothing;
  for (std::int64_t i = 0; i < count; ++i)
    if (keep == nullptr || keep[i]) top = std::max(top, x[i]);
  return top;
}

/// e^(x - top), where nothing but -inf has a top of -inf.
double exp_below(double x, double top) {
  return std::exp(x - (top == kNothing ? 0.0 : top));
}

void softmax(std::int64_t count, const double* x, const bool* keep, double* out) {
  const double top = top_of(count, x, keep);
  double sum = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = keep == nullptr || keep[i] ? exp_below(x[i], top) : 0.0;
    sum += out[i];
  }
  if (sum == 0.0) return;
  for (std::int64_t i = 0; i < count; ++i)
    if (keep == nullptr || keep[i]) out[i] /= sum;
}

void softmax_backward(std::int64_t count, const double* y, const double* grad, double* dx) {
  double dot = 0.0;
  for (std::int64_t i = 0; i < count; ++i)
    if (y[i] != 0.0) dot += y[i] * grad[i];
  for (std::int64_t i = 0; i < count; ++i) dx[i] = y[i] == 0.0 ? 0.0 : y[i] * (grad[i] - dot);
}

RowSum<double> exp_sum(std::int64_t count, const double* x) {
  RowSum<double> result{top_of(count, x, nullptr), 0.0, 0.0};
  for (std::int64_t i = 0; i < count; ++i) {
    result.sum += exp_below(x[i], result.max);
    result.total += x[i];
  }
  return result;
}

void log_softmax(std::int64_t count, const double* x, double* out) {
  const RowSum<double> row = exp_sum(count, x);
  const double log_sum = std::log(row.sum);
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = x[i] == kNothing ? kNothing : x[i] - row.max - log_sum;
}

void log_softmax_backward(std::int64_t count, const double* y, const double* grad, double* dx) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < count; ++i)
    if (y[i] != kNothing) sum += grad[i];
  for (std::int64_t i = 0; i < count; ++i)
    dx[i] = y[i] == kNothing ? 0.0 : grad[i] - std::exp(y[i]) * sum;
}

RowMoments<double> layer_norm(std::int64_t count, const double* x, const double* weight,
                              const double* bias, double eps, double* out) {
  const auto n = static_cast<double>(count);
  double sum = 0.0;
  for (std::int64_t i = 0; i < count; ++i) sum += x[i];
  const double mean = sum / n;
  double squares = 0.0;
  for (std::int64_t i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double scale = 1.0 / std::sqrt(squares / n + eps);
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = (x[i] - mean) * scale;
    if (weight != nullptr) out[i] *= weight[i];
    if (bias != nullptr) out[i] += bias[i];
  }
  return {mean, scale};
}

void layer_norm_backward(const LayerNormShared<double>& shared, const double* x,
                         const double* grad, const RowMoments<double>& moments, double* dx) {
  const auto [count, weight, d_weight, d_bias] = shared;
  const auto normal = [&](std::int64_t i) { return (x[i] - moments.mean) * moments.scale; };
  const auto slope = [&, w = weight](std::int64_t i) {
    return w == nullptr ? grad[i] : grad[i] * w[i];
  };
  double sum = 0.0;
  double dot = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += slope(i);
    dot += slope(i) * normal(i);
    if (d_weight != nullptr) d_weight[i] += grad[i] * normal(i);
    if (d_bias != nullptr) d_bias[i] += grad[i];
  }
  if (dx == nullptr) return;
  const auto n = static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i)
    dx[i] = moments.scale * (slope(i) - sum / n - normal(i) * (dot / n));
}

void cross_entropy_backward(std::int64_t count, const double* x, double max, double factor,
                            double shift, double* dx) {
  for (std::int64_t i = 0; i < count; ++i) dx[i] = factor * exp_below(x[i], max) - shift;
}

}  // namespace

template <>
const RowTable<double>& row_table<double>() {
  static constexpr RowTable<double> kTable{
      softmax,    softmax_backward,    log_softmax, log_softmax_backward,
      layer_norm, layer_norm_backward, exp_sum,     cross_entropy_backward};
  return kTable;
}

}  // namespace attn::cpu
