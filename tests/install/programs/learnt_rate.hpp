// The gradient of a score's one learnt number, fused and by differences.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include "attn/kernels/cpu/attention.hpp"

namespace mine {

/// `stage(rate)` makes the score from the number's place. Whether both gradients agree.
template <class Stage>
bool learns(const Stage& stage) {
  constexpr int kLength = 41, kDim = 8;
  std::mt19937 engine(1);
  std::normal_distribution<float> draw;
  const auto normal = [&] {
    std::vector<float> x(std::size_t{kLength} * kDim);
    for (float& number : x) number = draw(engine);
    return x;
  };
  const auto q = normal(), k = normal(), v = normal(), d_out = normal();
  std::vector<float> out(q.size()), dq(q.size()), dk(q.size()), dv(q.size()), stat(kLength);
  float rate = 0.7f;
  float d_rate = 0.0f;

  attn::Recipe recipe;
  recipe.scale = 1.0f / std::sqrt(float{kDim});
  recipe.scores = {stage(&rate)};
  const auto in = [](const std::vector<float>& x) {
    return attn::packed<const float>(x.data(), 1, 1, kLength, kDim);
  };
  const auto to = [](std::vector<float>& x) {
    return attn::packed<float>(x.data(), 1, 1, kLength, kDim);
  };
  const attn::ForwardArgs<float> forward{
      .q = in(q),
      .k = in(k),
      .v = in(v),
      .out = to(out),
      .stat = attn::packed<float>(stat.data(), 1, 1, kLength)};
  const auto loss = [&] {
    attn::cpu::forward(forward, recipe);
    double sum = 0.0;
    for (std::size_t i = 0; i < out.size(); ++i) sum += double{out[i]} * d_out[i];
    return sum;
  };
  loss();
  attn::RecipeGrads grads;
  grads.scores = {{attn::table_grad(&d_rate, {1, 1, 1, 1})}};
  attn::cpu::backward<float>({.q = forward.q,
                              .k = forward.k,
                              .v = forward.v,
                              .out = forward.out,
                              .stat = forward.stat,
                              .d_out = in(d_out),
                              .dq = to(dq),
                              .dk = to(dk),
                              .dv = to(dv)},
                             recipe, grads);
  constexpr float kStep = 0.01f;
  rate = 0.7f + kStep;
  const double above = loss();
  rate = 0.7f - kStep;
  const double difference = (above - loss()) / (2.0 * kStep);
  std::printf("d loss / d rate: %.5f fused, %.5f by differences\n", d_rate, difference);
  return std::fabs(difference) > 0.1 && std::fabs(d_rate - difference) < 2e-3;
}

}  // namespace mine
