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

#include "attn/core/thread_pool.hpp"
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
constexpr std::int64_t kWindow = 16;  ///< of local attention, on either side

struct Layer {
  const char* name;
  const char* cost;
  const char* steps;  ///< that wait for one another
  const char* path;   ///< layers that join any two places
  double growth;      ///< the exponent of the length that the formula says
  std::int64_t parameters;
  std::function<Tensor(const Tensor&)> call;
};

std::vector<Layer> layers() {
  nn::seed(1);
  const nn::Conv1d conv({.in = kDim, .out = kDim, .kernel = kKernel},
                        {.pad_before = 1, .pad_after = 1});
  const nn::Gru gru({.in = kDim, .hidden = kDim});
  // Without projections: they cost the same for any length, and the formula leaves them out.
  const auto over = [](const Mask& keep) {
    return [keep](const Tensor& x) { return attend(x, x, x, spec::scaled_dot(), keep).output; };
  };
  return {{"convolution", "O(k n d^2)", "1", "n / k", 1.0, conv.parameter_count(),
           [conv](const Tensor& x) { return conv(x.transpose(1, 2)).transpose(1, 2); }},
          {"recurrent", "O(n d^2)", "n", "1, through n steps", 1.0, gru.parameter_count(),
           [gru](const Tensor& x) { return gru(x).out; }},
          {"self-attention", "O(n^2 d)", "1", "1", 2.0, 4 * kDim * kDim, over({})},
          {"local attention", "O(n w d)", "1", "n / w", 1.0, 4 * kDim * kDim,
           over(spec::window(kWindow, kWindow))}};
}

/// The best of some calls.
double seconds_of(const std::function<Tensor(const Tensor&)>& call, const Tensor& x) {
  const NoGrad off_the_tape;
  double best = 1e30;
  double spent = 0.0;
  for (int round = 0; round < 50 && (round < 2 || spent < 0.3); ++round) {
    const auto begin = std::chrono::steady_clock::now();
    (void)call(x);
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

Tensor drawn(std::int64_t rows, std::int64_t columns) {
  Random random(4);
  return normal({1, rows, columns}, 0.0, 1.0, random);
}

/// Milliseconds of each layer over the lengths, on so many threads.
std::vector<std::vector<double>> print_times(const std::vector<Layer>& all,
                                             const std::vector<double>& lengths, int threads) {
  const int before = ThreadPool::default_threads();
  ThreadPool::set_default_threads(threads);
  fmt::print("One layer of {} features, batch 1, forward, milliseconds, {} thread{}:\n\n{:>8}",
             kDim, threads, threads == 1 ? "" : "s", "n");
  for (const Layer& layer : all) fmt::print("{:>17}", layer.name);
  fmt::print("\n");
  std::vector<std::vector<double>> seconds(all.size());
  for (const double n : lengths) {
    const Tensor x = drawn(static_cast<std::int64_t>(n), kDim);
    fmt::print("{:>8.0f}", n);
    for (std::size_t i = 0; i < all.size(); ++i) {
      seconds[i].push_back(seconds_of(all[i].call, x));
      fmt::print("{:>17.3f}", 1e3 * seconds[i].back());
    }
    fmt::print("\n");
  }
  fmt::print("\n");
  ThreadPool::set_default_threads(before);
  return seconds;
}

void print_facts(const std::vector<Layer>& all, const std::vector<double>& lengths,
                 const std::vector<std::vector<double>>& seconds) {
  fmt::print("{:<17}{:<12}{:>11}{:>10}{:>17}{:>12}  {:<20}{}\n", "layer", "formula",
             "n to power", "measured", "sequential steps", "parameters", "path between places",
             "gradient reaches");
  constexpr std::int64_t kReachLength = 512;
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Short sequences are dominated by what does not grow; the formula speaks of long ones.
    const std::size_t half = lengths.size() / 2;
    const double growth =
        fitted_growth({lengths.begin() + static_cast<long>(half), lengths.end()},
                      {seconds[i].begin() + static_cast<long>(half), seconds[i].end()});
    fmt::print("{:<17}{:<12}{:>11.0f}{:>10.2f}{:>17}{:>12}  {:<20}{} of {} places back\n",
               all[i].name, all[i].cost, all[i].growth, growth, all[i].steps, all[i].parameters,
               all[i].path, reach_of(all[i], kReachLength), kReachLength - 1);
  }
}

/// Luong's choice: one target word over the whole source, or over a window around a place.
void print_local_against_global(bool quick) {
  fmt::print(
      "\nOne query over a source of n tokens, microseconds (window {} on either side):\n\n"
      "{:>8}{:>12}{:>12}\n",
      kWindow, "n", "global", "local");
  for (const std::int64_t n : {100, 1000, quick ? 2000 : 10000}) {
    const Tensor keys = drawn(n, kDim);
    const Tensor query = drawn(1, kDim);
    const Tensor centre = Tensor::full({1, 1}, static_cast<double>(n) / 2.0);
    const auto look = [&](const Mask& keep) {
      return seconds_of(
          [&](const Tensor& q) { return attend(q, keys, keys, spec::dot(), keep).output; },
          query);
    };
    fmt::print("{:>8}{:>12.1f}{:>12.1f}\n", n, 1e6 * look({}),
               1e6 * look(spec::around(centre, static_cast<double>(kWindow))));
  }
}

/// The two scores of the first papers, whose cost the tutorials compare in words.
void print_dot_against_additive(bool quick) {
  const std::int64_t n = quick ? 64 : 256;
  fmt::print("\nScores of {} queries and keys over d, milliseconds:\n\n{:>8}{:>12}{:>12}\n", n,
             "d", "dot", "additive");
  for (const std::int64_t d : {16, 64, 256}) {
    const Tensor x = drawn(n, d);
    const Tensor v = Tensor::full({d}, 1.0 / std::sqrt(static_cast<double>(d)));
    const auto score = [&](const spec::Score& by) {
      return seconds_of([&](const Tensor& q) { return attend(q, x, x, by).output; }, x);
    };
    fmt::print("{:>8}{:>12.3f}{:>12.3f}\n", d, 1e3 * score(spec::scaled_dot()),
               1e3 * score(spec::additive(v)));
  }
}

}  // namespace

void measure_layers(bool quick) {
  std::vector<double> lengths;
  for (double n = 64; n <= (quick ? 2048 : 8192); n *= 2) lengths.push_back(n);
  const std::vector<Layer> all = layers();
  const std::vector<std::vector<double>> seconds = print_times(all, lengths, 1);
  if (ThreadPool::default_threads() > 1)
    print_times(all, lengths, ThreadPool::default_threads());
  print_facts(all, lengths, seconds);
  print_local_against_global(quick);
  print_dot_against_additive(quick);
}

}  // namespace attn::bench
