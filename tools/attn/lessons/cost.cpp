// What a layer costs: operations by formula, parameters by count, and paths by following
// gradients.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/conv.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/control/merge_states.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

constexpr std::int64_t kDim = 64;
constexpr std::int64_t kKernel = 3;
constexpr std::int64_t kWindow = 5;  ///< of local attention, on either side

/// What a layer does to a sequence [1, length, kDim], and its books.
struct LayerKind {
  std::string name;
  std::function<Tensor(const Tensor&)> call;
  std::int64_t parameters;
  std::function<double(double)> operations;  ///< multiplications between places, of a length
  std::function<double(double)> steps;       ///< that wait for one another
};

std::vector<LayerKind> layer_kinds() {
  nn::seed(9);
  const nn::Conv1d conv({.in = kDim, .out = kDim, .kernel = kKernel},
                        {.pad_before = 1, .pad_after = 1});
  const nn::Gru gru({.in = kDim, .hidden = kDim});
  const nn::MultiHeadAttention heads(
      {.query_dim = kDim, .key_dim = kDim, .value_dim = kDim, .hidden_dim = kDim, .heads = 4});
  const auto over = [heads](const Mask& keep) {
    return [heads, keep](const Tensor& x) { return heads.forward(x, x, x, keep).output; };
  };
  const auto one = [](double) { return 1.0; };
  const auto d = static_cast<double>(kDim);
  constexpr double kBand = 2.0 * kWindow + 1.0;
  return {{"convolution",
           [conv](const Tensor& x) { return conv(x.transpose(1, 2)).transpose(1, 2); },
           conv.parameter_count(), [d](double n) { return kKernel * n * d * d; }, one},
          {"recurrent", [gru](const Tensor& x) { return gru(x).out; }, gru.parameter_count(),
           [d](double n) { return n * d * d; }, [](double n) { return n; }},
          {"self-attention", over({}), heads.parameter_count(),
           [d](double n) { return n * n * d; }, one},
          {"local attention", over(spec::window(kWindow, kWindow)), heads.parameter_count(),
           [d](double n) { return n * kBand * d; }, one}};
}

/// Layers on top of one another until the last place has a gradient to the first. Of recurrent
/// layers one is enough, but inside of it the path has a step a place.
double layers_between_ends(const LayerKind& kind, std::int64_t length) {
  Random random(6);
  Tensor x = normal({1, length, kDim}, 0.0, 1.0, random).set_requires_grad();
  for (std::int64_t layers = 1; layers < length; ++layers) {
    Tensor y = x;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      // Sizes must not vanish on the way up; a path is a path at any size.
      const Tensor next = kind.call(y);
      y = next / sqrt(mean(square(next))).detach();
    }
    x.zero_grad();
    sum(y.select(1, length - 1)).backward();
    if (sum(abs(x.grad().select(1, 0))).item() > 0.0) return static_cast<double>(layers);
  }
  return static_cast<double>(length);
}

/// Attention over all keys, and over parts of them by themselves with the parts merged.
LessonTable keys_in_parts() {
  constexpr std::int64_t kKeys = 64;
  Random random(12);
  const Shape shape{1, 1, kKeys, kDim};
  const Tensor q = normal(shape, 0.0, 1.0, random, DType::f64);
  const Tensor k = normal(shape, 0.0, 1.0, random, DType::f64);
  const Tensor v = normal(shape, 0.0, 1.0, random, DType::f64);
  const Tensor whole = attend(q, k, v, spec::scaled_dot()).output;
  LessonTable table{"64 keys in two parts, each by itself, then merged",
                    {"keys of the first part", "first part alone", "merged"},
                    {}};
  for (const std::int64_t split : {1, 16, 32, 63}) {
    const nn::SplitAttended parts = nn::split_attention(q, k, v, split);
    const auto error = [&](const Tensor& output) {
      const double most = max(abs(output - whole).flatten(0, 3), 0).values.item();
      return most < 1e-12 ? 0.0 : most;  // the last bits depend on the machine
    };
    table.rows.push_back(
        {std::to_string(split), {error(parts.a.output), error(parts.whole.output)}});
  }
  return table;
}

}  // namespace

LessonResult cost_lesson() {
  LessonResult result;
  const std::vector<LayerKind> kinds = layer_kinds();
  LessonTable parameters{fmt::format("Parameters of one layer over {} channels", kDim),
                         {"layer", "parameters"},
                         {}};
  for (const LayerKind& kind : kinds)
    parameters.rows.push_back({kind.name, {static_cast<double>(kind.parameters)}});
  result.tables.push_back(parameters);
  for (const std::int64_t length : {16, 64}) {
    LessonTable table{
        fmt::format("{} places", length),
        {"layer", "operations", "sequential steps", "layers to join the ends", "longest path"},
        {}};
    const auto n = static_cast<double>(length);
    for (const LayerKind& kind : kinds) {
      const double layers = layers_between_ends(kind, length);
      table.rows.push_back(
          {kind.name, {kind.operations(n), kind.steps(n), layers, layers * kind.steps(n)}});
    }
    result.tables.push_back(table);
  }
  result.tables.push_back(keys_in_parts());
  result.remarks = {
      fmt::format(
          "Operations are by formula: k n d^2, n d^2, n^2 d, n (2 w + 1) d with k = {}, "
          "w = {}, d = {}.",
          kKernel, kWindow, kDim),
      "The layers that join the first place with the last are counted by following gradients.",
      "Self-attention is cheaper than a recurrent layer while n < d, and joins any two places "
      "in "
      "one step; a recurrent layer has to wait for every place before.",
      "Keys may be cut anywhere: the largest error of the merged parts is 0 up to rounding. So "
      "long sequences are read in tiles, and no matrix of all scores is needed."};

  maps::Training figure{
      .title = "Operations of one layer over the length",
      .caption =
          fmt::format("By formula, {} channels, both axes as logarithms to base 2. "
                      "Self-attention grows with the square of the length and crosses the "
                      "recurrent layer where the length is the number of channels; a "
                      "window makes it grow with the length alone.",
                      kDim),
      .x_title = "log2 of the length",
      .series = {},
      .left_title = "log2 of the operations"};
  for (const LayerKind& kind : kinds) {
    maps::Series series{kind.name, {}, {}};
    for (double n = 8.0; n <= 16384.0; n *= 2.0) {
      series.x.push_back(std::log2(n));
      series.y.push_back(std::log2(kind.operations(n)));
    }
    figure.series.push_back(series);
  }
  result.figure = figure;
  return result;
}

}  // namespace attn::tools
