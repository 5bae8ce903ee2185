// The smallest program that uses the installed package: one query, two keys, weights 1/4 and
// 3/4, an answer known beforehand.

#include <cmath>
#include <cstdio>

#include "attn/kernels/cpu/attention.hpp"

int main() {
  const float q[] = {1.0f};
  const float k[] = {0.0f, std::log(3.0f)};
  const float v[] = {0.0f, 4.0f};
  float out[] = {0.0f};
  const attn::ForwardArgs<float> args{.q = attn::packed<const float>(q, 1, 1, 1, 1),
                                      .k = attn::packed<const float>(k, 1, 1, 2, 1),
                                      .v = attn::packed<const float>(v, 1, 1, 2, 1),
                                      .out = attn::packed<float>(out, 1, 1, 1, 1)};
  attn::cpu::forward(args, attn::Recipe());
  std::printf("%.6f, expected 3\n", out[0]);
  return std::fabs(out[0] - 3.0f) < 1e-5f ? 0 : 1;
}
