// The attention kernels of one instruction set, as the dispatcher sees them.
#include <cstddef>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/stage.hpp"
#include "kernels/cpu/decode/decode.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/kernel_table.hpp"
#include "kernels/cpu/packed/backward.hpp"
#include "kernels/cpu/packed/backward_write.hpp"
#include "kernels/cpu/packed/forward.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/packed/packed_keys.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/score_tile.hpp"
#include "kernels/cpu/scratch.hpp"
#include "kernels/cpu/similarity.hpp"
#include "kernels/cpu/tiles.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

/// The scores of a tile of queries with all keys after the first `modifiers` stages, unmasked.
ATTN_FN void tapped_scores(const Plan& plan, const ForwardRun& run,
                           const ForwardScratch& scratch, FloatRows q, TilePlace at,
                           int modifiers, bool masked) {
  for (int k = 0; k < scratch.packed.count; k += kTileCols) {
    at.k = k;
    at.cols = min(kTileCols, scratch.packed.count - k);
    float* s = scratch.s + k;
    score_block(plan, run.kv_head, at.rows, at.cols, q.data, q.stride, {scratch.packed.keys, k},
                s, scratch.s_stride);
    modify(plan, modifiers, at, s, scratch.s_stride);
    if (masked && plan.masks != nullptr)
      apply_mask(plan, at, s, scratch.s_stride, scratch.bits);
  }
}

/// Whole rows of scores or weights of one kv head, handed to a visitor tile by tile.
void inspect(const Plan& plan, const ForwardRun& run, const RowVisitor& visitor,
             std::byte* memory) {
  Scratch pieces{memory};
  ForwardScratch scratch(plan, run, pieces);
  pack_keys(plan, run, scratch.packed.count, scratch.rows, scratch.packed);
  for (int h = run.kv_head * plan.group; h < (run.kv_head + 1) * plan.group; ++h)
    for (int q = run.q_begin; q < run.q_end; q += kTileRows) {
      const int rows = min(kTileRows, run.q_end - q);
      const FloatRows queries = packed_queries(plan, run, h, q, rows, scratch.q);
      TilePlace at{run.batch, h, q, 0, rows, scratch.packed.count};
      if (visitor.modifiers >= 0) {
        tapped_scores(plan, run, scratch, queries, at, visitor.modifiers, visitor.masked);
      } else {
        for (int r = 0; r < rows; ++r) {
          scratch.reference[r] = plan.normaliser.runs_max ? -kInfinity : 0.0f;
          scratch.mass[r] = 0.0f;
        }
        RunningRows running{
            queries, scratch.out, scratch.reference, scratch.mass, scratch.rescale, true, 0};
        whole_weights(plan, run.kv_head, scratch, at, running, scratch.scale, scratch.stat);
      }
      visitor.visit(visitor.context, at, scratch.s, scratch.s_stride);
    }
}

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const KernelTable& isa_table<KernelTable, Target::ATTN_TARGET>() {
  static constexpr KernelTable kTable{
      &forward_bytes,    &forward, &backward_bytes, &backward_deltas, &backward,
      &backward_queries, &inspect, &decode_bytes,   &decode,          &decode_merge};
  return kTable;
}

}  // namespace attn::cpu
