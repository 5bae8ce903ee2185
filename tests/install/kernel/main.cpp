// The kernel files are there for each instruction set, and the library runs the functor in
// every set that this machine has.

#include <cmath>
#include <cstdio>

#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "names.hpp"
#include "twice.hpp"

namespace app {

int lane_sum();

/// One query and two keys, weights 1/4 and 3/4 once the scores are doubled.
bool runs_on(attn::Target target) {
  const float q[] = {1.0f};
  const float k[] = {0.0f, 0.5f * std::log(3.0f)};
  const float v[] = {0.0f, 4.0f};
  float out[] = {0.0f};
  attn::Recipe recipe;
  recipe.scores = {attn::score_stage(Twice{})};
  const attn::ForwardArgs<float> args{.q = attn::packed<const float>(q, 1, 1, 1, 1),
                                      .k = attn::packed<const float>(k, 1, 1, 2, 1),
                                      .v = attn::packed<const float>(v, 1, 1, 2, 1),
                                      .out = attn::packed<float>(out, 1, 1, 1, 1)};
  attn::cpu::forward(args, recipe, {.target = target});
  std::printf("%.6f, expected 3\n", out[0]);
  return std::fabs(out[0] - 3.0f) < 1e-5f;
}

}  // namespace app

int main() {
#if defined(__x86_64__)
  bool right = app::lane_sum() == 16 + 8 + 4;
#else
  bool right = app::lane_sum() == 4;
#endif
  for (const attn::Target target : attn::cpu::kBuiltTargets)
    if (attn::cpu::available(target)) right = app::runs_on(target) && right;
  return right ? 0 : 1;
}
