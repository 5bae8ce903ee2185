// The update of Adam for one instruction set.
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "nn/cpu/optimiser_table.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

struct Updated {
  Lane parameter;
  Lane mean;
  Lane square;
};

ATTN_FN Updated update(const AdamStep& step, Lane grad, Lane parameter, Lane mean,
                       Lane square) {
  const Lane g = multiply_add(parameter, step.weight_decay, grad);
  const Lane m = multiply_add(mean, step.beta1, g * (1.0f - step.beta1));
  const Lane s = multiply_add(square, step.beta2, g * g * (1.0f - step.beta2));
  const Lane width = multiply_add(sqrt(s), step.square_scale, step.eps);
  return {parameter * step.keep - m * step.rate / width, m, s};
}

void adam(std::int64_t count, const AdamStep& step, const float* grad, float* parameter,
          float* mean, float* square) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Updated now = update(step, Lane::load(grad + i), Lane::load(parameter + i),
                               Lane::load(mean + i), Lane::load(square + i));
    now.parameter.store(parameter + i);
    now.mean.store(mean + i);
    now.square.store(square + i);
  }
  if (const int rest = static_cast<int>(count - i); rest > 0) {
    const Updated now =
        update(step, Lane::load(grad + i, rest), Lane::load(parameter + i, rest),
               Lane::load(mean + i, rest), Lane::load(square + i, rest));
    now.parameter.store(parameter + i, rest);
    now.mean.store(mean + i, rest);
    now.square.store(square + i, rest);
  }
}

}  // namespace

const OptimiserTable& optimiser_kernels() {
  static constexpr OptimiserTable kTable{&adam};
  return kTable;
}

}  // namespace attn::cpu::inline ATTN_TARGET
