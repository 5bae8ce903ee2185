#include "kernels/cpu/decode/work.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "attn/kernels/route.hpp"
#include "kernels/cpu/decode/piece.hpp"
#include "kernels/cpu/kernel_table.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu {

bool takes_decode(const Plan& plan, int b) {
  return decodes_on_cpu(plan.group, plan.queries(b), plan.keys(b), plan.streams);
}

DecodeWork::DecodeWork(const Plan& plan) : plan_(plan) {
  int units = 0;
  std::int64_t floats = 0;
  for (int b = 0; b < plan.sequences; ++b) {
    if (plan.queries(b) == 0 || !takes_decode(plan, b)) continue;
    const int keys = plan.keys(b);
    // A sequence without keys still has outputs to write.
    const int count = std::max(1, (keys + kPieceKeys - 1) / kPieceKeys);
    const std::int64_t size =
        DecodeState::size(plan.group * plan.queries(b), plan.value_channels);
    for (int kv = 0; kv < plan.kv_heads; ++kv, ++units) {
      const int first = tasks();
      for (int p = 0; p < count; ++p) {
        const int begin = p * kPieceKeys;
        tasks_.push_back({{b, kv, begin, std::min(keys, begin + kPieceKeys)},
                          units,
                          first,
                          count,
                          floats,
                          size});
        if (count > 1) floats += size;
      }
    }
  }
  if (floats == 0) return;
  states_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(floats));
  left_ = std::make_unique<std::atomic<int>[]>(static_cast<std::size_t>(units));
  for (const Task& task : tasks_)
    left_[static_cast<std::size_t>(task.unit)].store(task.count, std::memory_order_relaxed);
}

void DecodeWork::run(const KernelTable& kernels, int index, std::byte* memory) const {
  const Task& task = tasks_[static_cast<std::size_t>(index)];
  if (task.count == 1) {
    kernels.decode(plan_, task.piece, nullptr, memory);
    return;
  }
  kernels.decode(plan_, task.piece, states_.get() + task.state, memory);
  auto& left = left_[static_cast<std::size_t>(task.unit)];
  if (left.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  const std::int64_t first = tasks_[static_cast<std::size_t>(task.first)].state;
  kernels.decode_merge(plan_, task.piece, states_.get() + first, task.count, memory);
}

}  // namespace attn::cpu
