// The update of Adam for one instruction set.
#include <cstdint>

#include "attn/kernels/cpu/lane.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "nn/updates.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

using Numbers = nn::AdamNumbers<Lane>;

void adam(std::int64_t count, const nn::AdamStep& step, const float* grad, float* parameter,
          float* mean, float* square) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Numbers now = step.update(
        Lane::load(grad + i),
        Numbers{Lane::load(parameter + i), Lane::load(mean + i), Lane::load(square + i)});
    now.parameter.store(parameter + i);
    now.mean.store(mean + i);
    now.square.store(square + i);
  }
  if (const int rest = static_cast<int>(count - i); rest > 0) {
    const Numbers now =
        step.update(Lane::load(grad + i, rest),
                    Numbers{Lane::load(parameter + i, rest), Lane::load(mean + i, rest),
                            Lane::load(square + i, rest)});
    now.parameter.store(parameter + i, rest);
    now.mean.store(mean + i, rest);
    now.square.store(square + i, rest);
  }
}

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const OptimiserTable& isa_table<OptimiserTable, Target::ATTN_TARGET>() {
  static constexpr OptimiserTable kTable{&adam};
  return kTable;
}

}  // namespace attn::cpu
