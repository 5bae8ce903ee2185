#include "attn/nn/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "attn/core/error.hpp"

namespace attn::nn {

Schedule constant_rate(double rate) {
  return [rate](std::int64_t) { return rate; };
}

Schedule step_rate(double rate, double factor, std::int64_t every) {
  if (every < 1) fail("attn::nn::step_rate: every ", every, " steps; 1 or more is accepted");
  return [=](std::int64_t step) {
    const std::int64_t stairs = step / every;
    return rate * std::pow(factor, static_cast<double>(stairs));
  };
}

Schedule cosine_rate(double rate, std::int64_t steps, std::int64_t warm_up, double least) {
  if (warm_up < 0 || steps <= warm_up)
    fail("attn::nn::cosine_rate: ", steps, " steps with a warm-up of ", warm_up,
         "; 0 <= warm_up < steps is accepted");
  return [=](std::int64_t step) {
    if (step < warm_up)
      return rate * static_cast<double>(step + 1) / static_cast<double>(warm_up);
    const double way = std::min(
        1.0, static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up));
    return least + (rate - least) * 0.5 * (1.0 + std::cos(std::numbers::pi * way));
  };
}

Schedule inverse_square_root_rate(double rate, std::int64_t warm_up) {
  if (warm_up < 1)
    fail("attn::nn::inverse_square_root_rate: a warm-up of ", warm_up,
         "; 1 or more is accepted");
  return [=](std::int64_t step) {
    const auto now = static_cast<double>(step + 1);
    const auto top = static_cast<double>(warm_up);
    return rate * std::min(now / top, std::sqrt(top / now));
  };
}

}  // namespace attn::nn
