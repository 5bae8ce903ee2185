// The steps of recurrent layers and decoders for one instruction set.
#include "tensor/cpu/cells.hpp"

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"  // IWYU pragma: keep
#include "kernels/cpu/isa_table.hpp"
#include "tensor/cpu/cells_table.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

/// Vectors of floats; `left` tells how many numbers the row still has.
struct Lanes {
  using T = float;
  using V = Lane;
  static constexpr int kWidth = kLanes;

  ATTN_FN static Lane load(const float* from, std::int64_t left) {
    return left >= kLanes ? Lane::load(from) : Lane::load(from, static_cast<int>(left));
  }
  ATTN_FN static Lane load_or(const float* from, std::int64_t left, float otherwise) {
    if (left >= kLanes) return Lane::load(from);
    const int count = static_cast<int>(left);
    return select(first_lanes(count), Lane::load(from, count), Lane(otherwise));
  }
  ATTN_FN static void store(Lane x, float* to, std::int64_t left) {
    if (left >= kLanes) {
      x.store(to);
    } else {
      x.store(to, static_cast<int>(left));
    }
  }
  ATTN_FN static float sum(Lane x) { return reduce_sum(x); }
  ATTN_FN static float largest(Lane x) { return reduce_max(x); }
};

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const CellTable<float>& isa_table<CellTable<float>, Target::ATTN_TARGET>() {
  return kCellTable<Lanes>;
}

}  // namespace attn::cpu
