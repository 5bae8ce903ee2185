#include "tools/attn/lessons/tutorial_regression.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/mechanisms/regression/kernel_regression.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

constexpr std::int64_t kPoints = 50;
constexpr double kLargestX = 5.0;
constexpr double kNoise = 0.5;

double truth_at(double x) {
  return 2.0 * std::sin(x) + std::pow(x, 0.8);
}

struct TutorialData {
  std::vector<double> x;  ///< sorted
  std::vector<double> y;
  std::vector<double> queries;
};

TutorialData tutorial_data(std::uint64_t seed) {
  Random random(seed);
  TutorialData data;
  data.x = uniform({kPoints}, 0.0, kLargestX, random, DType::f64).to_vector<double>();
  std::sort(data.x.begin(), data.x.end());
  const auto noise = normal({kPoints}, 0.0, kNoise, random, DType::f64).to_vector<double>();
  for (std::size_t i = 0; i < data.x.size(); ++i)
    data.y.push_back(truth_at(data.x[i]) + noise[i]);
  for (int i = 0; i < kPoints; ++i) data.queries.push_back(kLargestX / kPoints * i);
  return data;
}

Tensor line_of(const std::vector<double>& numbers) {
  return Tensor::from(numbers, {static_cast<std::int64_t>(numbers.size())});
}

/// Predictions at the queries and the weights that made them.
struct Fit {
  std::string name;
  std::vector<double> values;
  Tensor weights;  ///< [queries, points]

  double error(const TutorialData& data) const {
    double total = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i)
      total += std::pow(values[i] - truth_at(data.queries[i]), 2);
    return std::sqrt(total / static_cast<double>(values.size()));
  }
};

Fit fit_of(const std::string& name, const nn::KernelRegression& model,
           const TutorialData& data) {
  const Attended at = model.predict(line_of(data.queries), Want::output | Want::weights);
  return {name, at.output.to_vector<double>(), at.weights.detach()};
}

maps::Map heat_map(const Fit& fit, const TutorialData& data, double width) {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  // Few, and their number is not known before.
  // NOLINTNEXTLINE(performance-inefficient-vector-operation)
  for (const double x : data.queries) rows.push_back(fmt::format("{:.1f}", x));
  // Few, and their number is not known before.
  // NOLINTNEXTLINE(performance-inefficient-vector-operation)
  for (const double x : data.x) columns.push_back(fmt::format("{:.1f}", x));
  return maps::Alignment{
      .title = "Weights of kernel regression, " + fit.name,
      .caption = fmt::format("Rows are the places asked for, columns the known points, both "
                             "sorted by x; w = {:.4g}.",
                             width),
      .rows = rows,
      .columns = columns,
      .row_title = "query",
      .column_title = "point",
      .weights = matrix_of(fit.weights)};
}

maps::Map curves(const std::vector<Fit>& fits, const TutorialData& data, double width) {
  maps::Curve map{.title = "Kernel regression as in the tutorial",
                  .caption = fmt::format(
                      "50 points of 2 sin x + x^0.8 with noise; the fixed kernel has w = "
                      "1, the learnt one w = {:.4g}. Below, what the fixed kernel takes "
                      "of every point.",
                      width),
                  .x_title = "x",
                  .y_title = "y",
                  .points = {},
                  .lines = {},
                  .queries = {},
                  .weights = {}};
  for (std::size_t i = 0; i < data.x.size(); ++i) map.points.push_back({data.x[i], data.y[i]});
  std::vector<double> truth;
  // Few, and their number is not known before.
  // NOLINTNEXTLINE(performance-inefficient-vector-operation)
  for (const double x : data.queries) truth.push_back(truth_at(x));
  map.lines.push_back({"truth", data.queries, truth});
  for (const Fit& fit : fits) map.lines.push_back({fit.name, data.queries, fit.values});
  const Fit& fixed = fits[1];
  constexpr std::size_t kEvery = 20;
  for (std::size_t i = kEvery / 2; i < data.queries.size(); i += kEvery) {
    map.queries.push_back(data.queries[i]);
    for (const double weight : numbers_of_row(fixed.weights, i))
      map.weights.values.push_back(static_cast<float>(weight));
  }
  map.weights.rows = map.queries.size();
  map.weights.columns = data.x.size();
  return map;
}

}  // namespace

LessonResult tutorial_regression(const TutorialOptions& options, TutorialHeat heat) {
  const TutorialData data = tutorial_data(options.seed);
  const Tensor x = line_of(data.x);
  const Tensor y = line_of(data.y);
  const auto kernel = [&](double width) {
    nn::KernelRegression model({.width = width});
    model.keep(x, y);
    return model;
  };
  const nn::KernelRegression fixed = kernel(options.width);
  nn::KernelRegression learnt = kernel(options.width);
  const double first_loss = learnt.loss().item();
  const auto history = learnt.fit(x, y, {.rate = options.rate, .epochs = options.epochs});
  constexpr double kNarrowest = 1e12;
  if (!(std::fabs(learnt.width()) <= kNarrowest))
    fail("attn regress tutorial: at this rate w becomes ", learnt.width(),
         "; a smaller --rate is accepted");
  const std::vector<Fit> fits{fit_of("uniform average", kernel(0.0), data),
                              fit_of("fixed width", fixed, data),
                              fit_of("learnt width", learnt, data)};

  LessonTable errors{
      "Error against the curve without its noise, 50 places", {"", "w", "RMSE"}, {}};
  const std::vector<double> widths{0.0, fixed.width(), learnt.width()};
  for (std::size_t i = 0; i < fits.size(); ++i)
    errors.rows.push_back({fits[i].name, {widths[i], fits[i].error(data)}});
  LessonTable epochs{
      "Learning the width by leaving each point out", {"epoch", "loss", "w after"}, {}};
  epochs.rows.push_back({"0", {first_loss, options.width}});
  for (std::size_t i = 0; i < history.size(); ++i) {
    const double loss = i + 1 < history.size() ? history[i + 1].loss : learnt.loss().item();
    epochs.rows.push_back({std::to_string(i + 1), {loss, history[i].width}});
  }

  LessonResult result;
  result.tables = {errors, epochs};
  result.remarks = {
      "w = 0 weighs all points alike: the uniform average. A larger w is a narrower kernel.",
      "The loss after each epoch is of all points, each predicted from the others."};
  const bool wants_fixed = heat == TutorialHeat::fixed;
  result.figure = heat == TutorialHeat::none
                      ? curves(fits, data, learnt.width())
                      : heat_map(fits[wants_fixed ? 1 : 2], data,
                                 wants_fixed ? fixed.width() : learnt.width());
  return result;
}

}  // namespace attn::tools
