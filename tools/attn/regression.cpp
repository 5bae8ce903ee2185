#include "tools/attn/regression.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/regression/kernel_regression.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tools {
namespace {

/// Sums of squares of so many stay far inside the range of double.
constexpr double kLargestNumber = 1e100;
constexpr double kLeastRange = 1e-100;
/// In deviations of x: a product of the two is squared, and stays in the range of float.
constexpr double kWidestKernel = 1e9;
constexpr double kFarthestPlace = 1e9;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}
double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double total = 0.0;
  for (const double value : values) total += (value - mean) * (value - mean);
  return std::sqrt(total / static_cast<double>(values.size()));
}

/// Places and values in units that float and a learning rate can work with, on a device.
struct Scale {
  double x_middle;
  double x_unit;
  double y_middle;
  double y_unit;
  Device device;

  Scale(const Points& points, Device where)
      : x_middle(mean_of(points.x)),
        x_unit(deviation_of(points.x)),
        y_middle(mean_of(points.y)),
        y_unit(std::max(deviation_of(points.y), 1e-12)),
        device(where) {}

  Tensor x(const std::vector<double>& values) const { return scaled(values, x_middle, x_unit); }
  Tensor y(const std::vector<double>& values) const { return scaled(values, y_middle, y_unit); }

 private:
  Tensor scaled(const std::vector<double>& values, double middle, double unit) const {
    std::vector<double> result;
    result.reserve(values.size());
    for (const double value : values) result.push_back((value - middle) / unit);
    return Tensor::from(result, {static_cast<std::int64_t>(result.size())})
        .to(DType::f32)
        .to(device);
  }
};

/// Every share-th point, in a random order, is held out.
void split(const Points& points, const RegressionOptions& options, Regression& result) {
  const auto count = static_cast<std::int64_t>(points.x.size());
  const auto wanted =
      static_cast<std::int64_t>(std::llround(options.test * static_cast<double>(count)));
  const std::int64_t held = std::clamp<std::int64_t>(wanted, 1, count - 3);
  Random random(options.seed);
  const auto order = permutation(count, random).to_vector<std::int64_t>();
  std::vector<bool> out(points.x.size());
  for (std::int64_t i = 0; i < held; ++i)
    out[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = true;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    Points& side = out[i] ? result.held_out : result.train;
    side.x.push_back(points.x[i]);
    side.y.push_back(points.y[i]);
  }
}

/// The values of the `count` nearest points, nearest first, leaving out the one at `without`.
std::vector<double> nearest_values(const Points& train, double x, std::size_t count,
                                   std::size_t without) {
  std::vector<std::pair<double, double>> near;
  near.reserve(train.x.size());
  for (std::size_t i = 0; i < train.x.size(); ++i)
    if (i != without) near.emplace_back(std::fabs(train.x[i] - x), train.y[i]);
  const auto last = near.begin() + static_cast<std::ptrdiff_t>(std::min(count, near.size()));
  std::partial_sort(near.begin(), last, near.end());
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(last - near.begin()));
  for (auto point = near.begin(); point != last; ++point) values.push_back(point->second);
  return values;
}

/// The mean of the `count` nearest points.
double nearest_mean(const Points& train, double x, std::size_t count) {
  return mean_of(nearest_values(train, x, count, train.x.size()));
}

/// How many neighbours do best when each point is left out in turn.
std::size_t best_neighbours(const Points& train) {
  constexpr std::size_t kMost = 20;
  std::vector<double> errors(std::min(kMost, train.x.size() - 1));  // squared, of 1, 2, ...
  for (std::size_t i = 0; i < train.x.size(); ++i) {
    double total = 0.0;
    const std::vector<double> near = nearest_values(train, train.x[i], errors.size(), i);
    for (std::size_t k = 0; k < near.size(); ++k) {
      total += near[k];
      const double error = total / static_cast<double>(k + 1) - train.y[i];
      errors[k] += error * error;
    }
  }
  return 1 + static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) -
                                      errors.begin());
}

/// The mean of all points within `reach`; of the nearest where there are none.
double window_mean(const Points& train, double x, double reach) {
  double total = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < train.x.size(); ++i) {
    if (std::fabs(train.x[i] - x) > reach) continue;
    total += train.y[i];
    count += 1.0;
  }
  return count > 0.0 ? total / count : nearest_mean(train, x, 1);
}

Prediction judged(std::string name, std::string title, std::vector<double> values,
                  const Points& truth) {
  Prediction result{std::move(name), std::move(title), std::move(values), 0.0, 0.0};
  for (std::size_t i = 0; i < truth.y.size(); ++i) {
    const double error = result.values[i] - truth.y[i];
    result.rmse += error * error;
    result.mae += std::fabs(error);
  }
  result.rmse = std::sqrt(result.rmse / static_cast<double>(truth.y.size()));
  result.mae /= static_cast<double>(truth.y.size());
  return result;
}

template <class Predict>
std::vector<double> at_each(const Points& points, const Predict& predict) {
  std::vector<double> values;
  values.reserve(points.x.size());
  for (const double x : points.x) values.push_back(predict(x));
  return values;
}

std::vector<double> kernel_values(const nn::KernelRegression& curve, const Scale& scale,
                                  const Points& points) {
  std::vector<double> values;
  for (const float value : curve.predict(scale.x(points.x)).output.to_vector<float>())
    values.push_back(scale.y_middle + scale.y_unit * value);
  return values;
}

/// Predictions from the first known place to the last, at even steps.
Points curve_of(const nn::KernelRegression& curve, const Scale& scale, const Points& train) {
  constexpr int kSteps = 400;
  const auto [low, high] = std::minmax_element(train.x.begin(), train.x.end());
  Points result;
  for (int i = 0; i <= kSteps; ++i) result.x.push_back(*low + (*high - *low) * i / kSteps);
  result.y = kernel_values(curve, scale, result);
  return result;
}

/// Sets the width to the best of a ladder that halves it down to a quarter of the mean gap. The
/// loss has valleys of its own for every rhythm in the data, and a slope only finds the
/// nearest.
void choose_start(nn::KernelRegression& curve, const Scale& scale, const Regression& result) {
  const NoGrad off_the_tape;
  Tensor width = curve.parameters().front();
  const auto [low, high] = std::minmax_element(result.train.x.begin(), result.train.x.end());
  const double least = (*high - *low) / static_cast<double>(result.train.x.size()) / 4.0;
  double best_width = result.first_width;
  double best_loss = -1.0;
  for (double now = result.first_width; now > least; now /= 2.0) {
    width.fill(scale.x_unit / now);
    const double loss = curve.loss().item();
    if (best_loss < 0.0 || loss < best_loss) {
      best_loss = loss;
      best_width = now;
    }
  }
  width.fill(scale.x_unit / best_width);
}

/// Learns the width by Adam on its logarithm, so that it stays above 0 and one rate serves
/// widths of any size.
void learn(nn::KernelRegression& curve, const Scale& scale, const RegressionOptions& options,
           Regression& result) {
  Tensor width = curve.parameters().front();
  double momentum = 0.0;
  double size = 0.0;
  const auto count = static_cast<double>(result.train.x.size());
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    const Tensor loss = curve.loss();
    width.zero_grad();
    loss.backward();
    const double slope = width.grad().item() * width.item() / count;
    momentum = 0.9 * momentum + 0.1 * slope;
    size = 0.99 * size + 0.01 * slope * slope;
    const double step = momentum / (1.0 - std::pow(0.9, epoch)) /
                        (std::sqrt(size / (1.0 - std::pow(0.99, epoch))) + 1e-12);
    const NoGrad off_the_tape;
    width.fill(width.item() * std::exp(-options.rate * step));
    result.epochs.push_back({loss.item() / count * scale.y_unit * scale.y_unit,
                             scale.x_unit / std::fabs(width.item())});
  }
}

void check_numbers(const std::vector<double>& values, const char* name) {
  for (const double value : values)
    if (!(std::fabs(value) <= kLargestNumber))
      fail("regress: a value of ", name, " is ", value, "; numbers from ", -kLargestNumber,
           " to ", kLargestNumber, " are accepted");
}

void check(const Points& points) {
  if (points.x.size() < 10)
    fail("regress: ", points.x.size(), " points with numbers; at least 10 are needed");
  if (points.x.size() > kMostPoints)
    fail("regress: ", points.x.size(), " points; at most ", kMostPoints,
         " are accepted, since each is weighed against all: take every tenth row, or means");
  check_numbers(points.x, "x");
  check_numbers(points.y, "y");
  const auto [low, high] = std::minmax_element(points.x.begin(), points.x.end());
  if (*low == *high) fail("regress: all points are at one place");
  if (*high - *low < kLeastRange)
    fail("regress: x goes from ", *low, " to ", *high, "; a range of ", kLeastRange,
         " and more is accepted");
}

/// Of the points to learn from none is far away in units that they make themselves.
void check_places(const std::vector<double>& held_out, const Scale& scale) {
  for (const double x : held_out)
    if (std::fabs(x - scale.x_middle) / kFarthestPlace > scale.x_unit)
      fail("regress: x = ", x, " lies too far from the other points, which are ", scale.x_unit,
           " from ", scale.x_middle, " on average; up to ", kFarthestPlace,
           " times that is accepted");
}

void check_width(double width, const Scale& scale) {
  if (width < scale.x_unit / kWidestKernel || width > scale.x_unit * kWidestKernel)
    fail("regress: --width ", width, "; for these points ", scale.x_unit / kWidestKernel,
         " to ", scale.x_unit * kWidestKernel, " are accepted");
}

/// The points and the first width were checked, so only the learning can have gone astray.
void check_results(const Regression& result, const RegressionOptions& options) {
  const auto told = [](const Prediction& method) {
    return std::isfinite(method.rmse) && std::isfinite(method.mae);
  };
  const auto learnt = [](const Epoch& epoch) {
    return std::isfinite(epoch.loss) && std::isfinite(epoch.width);
  };
  if (!std::all_of(result.methods.begin(), result.methods.end(), told) ||
      !std::all_of(result.epochs.begin(), result.epochs.end(), learnt))
    fail("regress: the width left the range of numbers while it was learnt at --rate ",
         options.rate, " over ", options.epochs, " epochs; a lower --rate is accepted");
}

}  // namespace

Regression run_regression(const Points& points, const RegressionOptions& options) {
  check(points);
  Regression result;
  split(points, options, result);
  check(result.train);
  const Scale scale(result.train, options.device);
  check_places(result.held_out.x, scale);
  const auto count = static_cast<double>(result.train.x.size());
  // Silverman's rule of thumb for a Gaussian kernel, 1986.
  result.first_width =
      options.width > 0.0 ? options.width : 1.06 * scale.x_unit * std::pow(count, -0.2);
  check_width(result.first_width, scale);

  const double average = mean_of(result.train.y);
  const std::size_t neighbours = best_neighbours(result.train);
  const Points& held = result.held_out;
  result.methods.push_back(judged("mean", "the mean of all points",
                                  at_each(held, [&](double) { return average; }), held));
  result.methods.push_back(judged(
      "window", "uniform average within the width",
      at_each(held, [&](double x) { return window_mean(result.train, x, result.first_width); }),
      held));
  result.methods.push_back(
      judged("neighbours", std::to_string(neighbours) + " nearest neighbours (leave-one-out)",
             at_each(held, [&](double x) { return nearest_mean(result.train, x, neighbours); }),
             held));

  nn::KernelRegression curve({.width = scale.x_unit / result.first_width});
  curve.keep(scale.x(result.train.x), scale.y(result.train.y));
  result.methods.push_back(
      judged("kernel_fixed", "kernel, fixed width", kernel_values(curve, scale, held), held));
  result.fixed_curve = curve_of(curve, scale, result.train);
  const double fixed_loss = curve.loss().item() / count * scale.y_unit * scale.y_unit;
  result.epochs.push_back({fixed_loss, result.first_width});
  choose_start(curve, scale, result);
  learn(curve, scale, options, result);
  result.last_width = result.epochs.back().width;
  result.methods.push_back(
      judged("kernel_learnt", "kernel, learnt width", kernel_values(curve, scale, held), held));
  check_results(result, options);
  result.learnt_curve = curve_of(curve, scale, result.train);
  result.weights = curve.predict(scale.x(held.x), Want::weights).weights.to_vector<float>();
  return result;
}

nlohmann::json json_of(const Regression& result) {
  nlohmann::json methods;
  for (const Prediction& method : result.methods)
    methods[method.name] = {{"rmse", method.rmse}, {"mae", method.mae}};
  auto losses = nlohmann::json::array();
  for (const Epoch& epoch : result.epochs)
    losses.push_back({{"loss", epoch.loss}, {"width", epoch.width}});
  return {{"points", result.train.x.size()}, {"held_out", result.held_out.x.size()},
          {"methods", std::move(methods)},   {"first_width", result.first_width},
          {"last_width", result.last_width}, {"epochs", std::move(losses)}};
}

}  // namespace attn::tools
