// The same score as a lambda in a plain file: no attn_kernel_sources(), no Highway.

#include "attn/kernels/erase.hpp"
#include "attn/score/lambda.hpp"
#include "learnt_rate.hpp"

int main() {
  using attn::abs, attn::log, attn::real;
  const auto fade = attn::score::lambda<1>([](auto s, auto at, const auto& p) {
    return s - p.value(0) * log(1.0f + abs(real<decltype(s)>(at.k - at.q)));
  });
  const bool right = mine::learns(
      [&](float* rate) { return attn::score_stage(fade, {attn::table(rate, {1, 1, 1, 1})}); });
  return right ? 0 : 1;
}
