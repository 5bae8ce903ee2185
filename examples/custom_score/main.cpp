/// Brings a new score with one learnable number and gets fused attention, forward and backward.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdio>
#include <random>
#include <type_traits>
#include <vector>

#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "fade.hpp"

namespace {

constexpr int kHeads = 4, kLength = 300, kDim = 32;

std::vector<float> normal(unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> draw;
  std::vector<float> numbers(std::size_t{kHeads} * kLength * kDim);
  for (float& x : numbers) x = draw(engine);
  return numbers;
}

auto view(auto* data) {
  return attn::packed<std::remove_pointer_t<decltype(data)>>(data, 1, kHeads, kLength, kDim);
}

}  // namespace

int main() {
  const auto q = normal(1), k = normal(2), v = normal(3), d_out = normal(4);
  std::vector<float> out(q.size()), dq(q.size()), dk(q.size()), dv(q.size());
  std::vector<float> log_sum_exp(std::size_t{kHeads} * kLength);
  float rate = 0.7f;
  float d_rate = 0.0f;

  attn::Recipe recipe;  // scaled dot product and softmax, with our score in between
  recipe.scale = 1.0f / std::sqrt(float{kDim});
  recipe.scores = {attn::score_stage(Fade{}, {attn::table(&rate, {1, 1, 1, 1})})};

  const auto stat = attn::packed<float>(log_sum_exp.data(), 1, kHeads, kLength);
  const attn::ForwardArgs<float> forward{.q = view(q.data()),
                                         .k = view(k.data()),
                                         .v = view(v.data()),
                                         .out = view(out.data()),
                                         .stat = stat};
  const auto loss = [&] {  // sum(out * d_out), in double
    attn::cpu::forward(forward, recipe);
    double sum = 0.0;
    for (std::size_t i = 0; i < out.size(); ++i) sum += double{out[i]} * d_out[i];
    return sum;
  };
  const double before = loss();
  attn::RecipeGrads grads;
  grads.scores = {{attn::table_grad(&d_rate, {1, 1, 1, 1})}};
  attn::cpu::backward<float>({.q = forward.q,
                              .k = forward.k,
                              .v = forward.v,
                              .out = forward.out,
                              .stat = stat,
                              .d_out = view(d_out.data()),
                              .dq = view(dq.data()),
                              .dk = view(dk.data()),
                              .dv = view(dv.data())},
                             recipe, grads);

  const float step = 0.01f;
  rate = 0.7f + step;
  const double above = loss();
  rate = 0.7f - step;
  const double difference = (above - loss()) / (2.0 * step);
  std::printf("loss %.4f, d loss / d rate: %.4f fused, %.4f by differences\n", before, d_rate,
              difference);
  return std::fabs(d_rate - difference) <= 2e-3 * (1.0 + std::fabs(difference)) ? 0 : 1;
}
