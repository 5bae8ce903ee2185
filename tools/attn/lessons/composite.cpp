// theta(x) = layer(tau(sigma(x + P))), step by step.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/gradient_check.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/composed/non_local_transformer.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

constexpr std::int64_t kDim = 8;
const std::vector<std::string> kPlaces{"0", "1", "2", "3", "4"};

/// As after some training: a block's last map begins at 0, where it changes nothing.
void draw_parameters(const nn::Module& module, Random& random) {
  const NoGrad off_the_tape;
  for (Tensor parameter : module.parameters())
    if (parameter.rank() > 1)
      parameter.copy_from(normal(parameter.shape(), 0.0, 0.5, random, DType::f64));
}

/// Over the positions of a row: mean and variance of its channels.
std::vector<double> spread_of(const Tensor& x) {
  const Tensor centre = mean(x, 2, Axis::keep);
  return {mean(centre).item(), mean(square(x - centre)).item()};
}

maps::Grid block_grid(const Tensor& weights, double x) {
  return {.x = x,
          .y = 60.0,
          .cell_width = 40.0,
          .cell_height = 28.0,
          .rows = kPlaces,
          .columns = kPlaces,
          .weights = matrix_of(weights),
          .numbers = true};
}

}  // namespace

LessonResult composite_lesson() {
  nn::seed(4);
  const nn::NonLocalTransformer theta(
      {.dim = kDim, .inner = 4, .heads = 2, .feed_forward_dim = 16});
  theta.to(DType::f64);
  Random random(8);
  draw_parameters(theta, random);
  const Tensor x = normal({1, 5, kDim}, 0.0, 1.0, random, DType::f64);
  const nn::NonLocalTransformerResult made = theta.forward(x, Want::output | Want::weights);

  LessonTable sizes{"Parameters", {"part", "numbers"}, {}};
  for (const auto& [part, name] :
       {std::pair{"sigma", "sigma."}, {"tau", "tau."}, {"layer", "layer."}}) {
    std::int64_t count = 0;
    for (const nn::NamedTensor& one : theta.named_parameters())
      if (one.name.starts_with(name)) count += one.tensor.numel();
    sizes.rows.push_back({part, {static_cast<double>(count)}});
  }
  LessonTable spread{"Channels of a position", {"", "mean", "variance"}, {}};
  spread.rows = {{"x", spread_of(x)}, {"theta(x)", spread_of(made.output)}};
  double worst = 0.0;
  for (const nn::GradientCheck& check :
       nn::check_gradients(mechanism_named("non_local_transformer")))
    worst = std::max(worst, check.worst);
  LessonTable gradients{"Gradients against finite differences", {"", "largest difference"}, {}};
  gradients.rows = {{"all inputs and parameters", {worst}}};

  LessonResult result;
  result.tables = {sizes, spread, gradients};
  result.remarks = {
      "theta(x) = LN2(h + FF(h)), h = LN1(u + SA(u)), u = tau(sigma(x + P)): every symbol is a "
      "map from [positions, channels] to the same, so that the line can be computed.",
      "The last norm leaves each position with mean 0 and variance 1."};
  result.figure = maps::Diagram{
      .title = "The composite: two non-local blocks before a Transformer layer",
      .caption =
          "Weights of the two blocks for five positions: rows look at columns. x + P goes "
          "through sigma, then tau, then self-attention and feed-forward with their sums "
          "and norms.",
      .parts = {},
      .arrows = {},
      .notes = {{30.0, 15.0, "σ", maps::NoteAnchor::left, maps::Role::score, true},
                {290.0, 15.0, "τ", maps::NoteAnchor::left, maps::Role::score, true}},
      .grids = {block_grid(made.sigma_weights, 30.0), block_grid(made.tau_weights, 290.0)}};
  return result;
}

}  // namespace attn::tools
