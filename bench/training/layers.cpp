// The table every text prints and none measures: what a convolution, a recurrent and a
// self-attention layer cost as sequences grow, and how far a gradient reaches in one of them.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "attn/nn/conv.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "training/workload.hpp"

namespace attn::bench {
namespace {

constexpr std::int64_t kDim = 64;
constexpr std::int64_t kKernel = 3;

struct Layer {
  const char* name;
  const char* cost;
  const char* path;  ///< layers that join any two places
  double growth;     ///< the exponent of the length that the formula says
  std::function<Tensor(const Tensor&)> call;
};

std::vector<Layer> layers() {
  nn::seed(1);
  const nn::Conv1d conv({.in = kDim, .out = kDim, .kernel = kKernel},
                        {.pad_before = 1, .pad_after = 1});
  const nn::Gru gru({.in = kDim, .hidden = kDim});
  return {{"convolution", "O(k n d^2)", "n / k", 1.0,
           [conv](const Tensor& x) { return conv(x.transpose(1, 2)).transpose(1, 2); }},
          {"recurrent", "O(n d^2)", "1, through n steps", 1.0,
           [gru](const Tensor& x) { return gru(x).out; }},
          {"self-attention", "O(n^2 d)", "1", 2.0,
           [](const Tensor& x) { return attend(x, x, x).output; }}};
}

double seconds_of(const Layer& layer, const Tensor& x) {
  const NoGrad off_the_tape;
  double best = 1e30;
  double spent = 0.0;
  for (int round = 0; round < 50 && (round < 2 || spent < 0.3); ++round) {
    const auto begin = std::chrono::steady_clock::now();
    (void)layer.call(x);
    const double now =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::min(best, now);
    spent += now;
  }
  return best;
}

/// The slope of log(seconds) over log(length): the exponent that was measured.
double fitted_growth(const std::vector<double>& lengths, const std::vector<double>& seconds) {
  double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  const auto count = static_cast<double>(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double x = std::log(lengths[i]);
    const double y = std::log(seconds[i]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

/// How far from the last place the input still has a gradient above a thousandth of the
/// largest.
std::int64_t reach_of(const Layer& layer, std::int64_t length) {
  Random random(5);
  Tensor x = normal({1, length, kDim}, 0.0, 1.0, random).set_requires_grad();
  sum(layer.call(x).select(1, length - 1)).backward();
  const std::vector<float> size = sum(abs(x.grad()), 2).to_vector<float>();
  const float largest = *std::max_element(size.begin(), size.end());
  for (std::int64_t i = 0; i < length; ++i)
    if (size[static_cast<std::size_t>(i)] > 1e-3f * largest) return length - 1 - i;
  return 0;
}

}  // namespace

void measure_layers(bool quick) {
  std::vector<double> lengths;
  for (double n = 64; n <= (quick ? 2048 : 8192); n *= 2) lengths.push_back(n);
  const std::vector<Layer> all = layers();
  fmt::print("One layer of {} features, batch 1, forward, milliseconds:\n\n{:>8}", kDim, "n");
  for (const Layer& layer : all) fmt::print("{:>16}", layer.name);
  fmt::print("\n");
  std::vector<std::vector<double>> seconds(all.size());
  for (const double n : lengths) {
    Random random(4);
    const Tensor x = normal({1, static_cast<std::int64_t>(n), kDim}, 0.0, 1.0, random);
    fmt::print("{:>8.0f}", n);
    for (std::size_t i = 0; i < all.size(); ++i) {
      seconds[i].push_back(seconds_of(all[i], x));
      fmt::print("{:>16.3f}", 1e3 * seconds[i].back());
    }
    fmt::print("\n");
  }
  fmt::print("\n{:<16}{:<12}{:>14}{:>14}  {:<22}{}\n", "layer", "formula", "n to the power",
             "measured", "path between places", "gradient reaches");
  constexpr std::int64_t kReachLength = 512;
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Short sequences are dominated by what does not grow; the formula speaks of long ones.
    const std::size_t half = lengths.size() / 2;
    const double growth =
        fitted_growth({lengths.begin() + static_cast<long>(half), lengths.end()},
                      {seconds[i].begin() + static_cast<long>(half), seconds[i].end()});
    fmt::print("{:<16}{:<12}{:>14.0f}{:>14.2f}  {:<22}{} of {} places back\n", all[i].name,
               all[i].cost, all[i].growth, growth, all[i].path, reach_of(all[i], kReachLength),
               kReachLength - 1);
  }
}

}  // namespace attn::bench
