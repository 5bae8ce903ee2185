// The steps of recurrent layers and decoders for one instruction set.
#include "tensor/cpu/cells.hpp"

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"  // IWYU pragma: keep
#include "kernels/cpu/isa_table.hpp"
#include "tensor/cpu/attention_rows.hpp"
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

void gru_forward_rows(const CellForward<float>& step) {
  gru_forward<Lanes>(step);
}
void gru_backward_rows(const CellBackward<float>& step) {
  gru_backward<Lanes>(step);
}
void lstm_forward_rows(const CellForward<float>& step) {
  lstm_forward<Lanes>(step);
}
void lstm_backward_rows(const CellBackward<float>& step) {
  lstm_backward<Lanes>(step);
}
void attention_forward_rows(const AttentionForward<float>& step) {
  attention_forward<Lanes>(step);
}
void attention_backward_rows(const AttentionBackward<float>& step) {
  attention_backward<Lanes>(step);
}
void tanh_forward_rows(float* x, std::int64_t count) {
  tanh_forward<Lanes>(x, count);
}
void tanh_backward_rows(const TanhBackward<float>& step) {
  tanh_backward<Lanes>(step);
}

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const CellTable<float>& isa_table<CellTable<float>, Target::ATTN_TARGET>() {
  static constexpr CellTable<float> kTable{&gru_forward_rows,       &gru_backward_rows,
                                           &lstm_forward_rows,      &lstm_backward_rows,
                                           &attention_forward_rows, &attention_backward_rows,
                                           &tanh_forward_rows,      &tanh_backward_rows};
  return kTable;
}

}  // namespace attn::cpu
