/// Brings a new mask and draws what it lets each query see.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/reference/attention.hpp"
#include "braid.hpp"

int main() {
  constexpr int kLength = 48, kDim = 16;
  std::mt19937 engine(7);
  std::normal_distribution<float> draw;
  std::vector<float> q(std::size_t{kLength} * kDim), k(q), v(q), out(q), expected(q);
  for (auto* numbers : {&q, &k, &v})
    for (float& x : *numbers) x = draw(engine);

  attn::Recipe recipe;
  recipe.scale = 1.0f / std::sqrt(float{kDim});
  recipe.masks = {attn::MaskTree::of(attn::mask_stage(Braid{.near = 3, .strands = 16}))};

  attn::ForwardArgs<float> args{.q = attn::packed<const float>(q.data(), 1, 1, kLength, kDim),
                                .k = attn::packed<const float>(k.data(), 1, 1, kLength, kDim),
                                .v = attn::packed<const float>(v.data(), 1, 1, kLength, kDim),
                                .out = attn::packed<float>(out.data(), 1, 1, kLength, kDim)};
  attn::cpu::forward(args, recipe);

  std::vector<float> weights(std::size_t{kLength} * kLength);
  attn::cpu::weights(args, recipe, attn::packed<float>(weights.data(), 1, 1, kLength, kLength));
  for (int i = 0; i < kLength; i += 2) {
    const float* row = weights.data() + std::ptrdiff_t{i} * kLength;
    for (int j = 0; j < kLength; ++j) {
      const float w = row[j];
      std::fputs(w > 0.25f ? "#" : w > 0.05f ? "+" : w > 0.0f ? "." : " ", stdout);
    }
    std::puts("|");
  }

  // The definition agrees: plain loops over the same functor.
  args.out = attn::packed<float>(expected.data(), 1, 1, kLength, kDim);
  attn::reference::forward(args, recipe);
  float worst = 0.0f;
  for (std::size_t c = 0; c < out.size(); ++c)
    worst = std::fmax(worst, std::fabs(out[c] - expected[c]));
  std::printf("largest difference from the reference: %.1e\n", static_cast<double>(worst));
  return worst < 1e-5f ? 0 : 1;
}
