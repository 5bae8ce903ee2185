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
#include "attn/nn/regression/kernel_regression.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tools {
namespace {

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

/// The mean of the `count` nearest points, leaving out the one at `without`.
double nearest_mean(const Points& train, double x, std::size_t count, std::size_t without) {
  std::vector<std::pair<double, double>> near;
  for (std::size_t i = 0; i < train.x.size(); ++i)
    if (i != without) near.emplace_back(std::fabs(train.x[i] - x), train.y[i]);
  const auto last = near.begin() + static_cast<std::ptrdiff_t>(std::min(count, near.size()));
  std::partial_sort(near.begin(), last, near.end());
  double total = 0.0;
  for (auto point = near.begin(); point != last; ++point) total += point->second;
  return total / static_cast<double>(last - near.begin());
}

/// How many neighbours do best when each point is left out in turn.
std::size_t best_neighbours(const Points& train) {
  constexpr std::size_t kMost = 20;
  std::size_t best = 1;
  double least = -1.0;
  for (std::size_t k = 1; k <= std::min(kMost, train.x.size() - 1); ++k) {
    double total = 0.0;
    for (std::size_t i = 0; i < train.x.size(); ++i) {
      const double error = nearest_mean(train, train.x[i], k, i) - train.y[i];
      total += error * error;
    }
    if (least < 0.0 || total < least) {
      least = total;
      best = k;
    }
  }
  return best;
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
  return count > 0.0 ? total / count : nearest_mean(train, x, 1, train.x.size());
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

void check(const Points& points) {
  if (points.x.size() < 10)
    fail("regress: ", points.x.size(), " points with numbers; at least 10 are needed");
  if (deviation_of(points.x) == 0.0) fail("regress: all points are at one place");
}

}  // namespace

Regression run_regression(const Points& points, const RegressionOptions& options) {
  check(points);
  Regression result;
  split(points, options, result);
  check(result.train);
  const Scale scale(result.train, options.device);
  const auto count = static_cast<double>(result.train.x.size());
  // Silverman's rule of thumb for a Gaussian kernel, 1986.
  result.first_width =
      options.width > 0.0 ? options.width : 1.06 * scale.x_unit * std::pow(count, -0.2);

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
             at_each(held,
                     [&](double x) {
                       return nearest_mean(result.train, x, neighbours, result.train.x.size());
                     }),
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
