// Linear attention for one instruction set: the recurrences of attn/pool/linear.hpp on a block
// of value channels.
#include "attn/pool/linear.hpp"

#include <cstddef>
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"
#include "attn/kernels/stage.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/linear_plan.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

/// Channels [first, first + count) of row t of a view, as floats, and the reverse.
ATTN_FN void read_row(const RawView& view, int b, int h, int t, int first, int count,
                      float* to) {
  read_rows(view.rows(b, h, t, first), 0, 1, count, to, count);
}
ATTN_FN void write_row(const RawView& view, int b, int h, int t, int first, int count,
                       const float* from) {
  write_rows(from, count, 1, count, view.rows(b, h, t, first), 0);
}

/// The vectors of one task. The state lies line after line, a line being kTilePad value
/// channels of all key channels, with zeros past the last value channel.
struct Work {
  float* k;
  float* keep;  ///< e^decay
  float* q;     ///< [group, channels]
  float* v;     ///< [kLinearColumns]
  float* out;   ///< [group, kLinearColumns]
  float* state;
  int row;  ///< floats from one query head of q to the next
};

ATTN_FN Work work_of(const LinearPlan& plan, std::byte* scratch) {
  auto* floats = reinterpret_cast<float*>(scratch);
  const std::size_t row = linear_row(plan);
  Work work{};
  work.row = static_cast<int>(row);
  work.k = floats;
  work.keep = work.k + row;
  work.q = work.keep + row;
  work.v = work.q + row * static_cast<std::size_t>(plan.group);
  work.out = work.v + kLinearColumns;
  work.state = work.out + kLinearColumns * plan.group;
  return work;
}

ATTN_FN void clear(float* row, int count) {
  for (int j = 0; j < count; ++j) row[j] = 0.0f;
}

ATTN_FN void load_step(const LinearPlan& plan, const Work& work, int b, int kv_head, int t,
                       int column, int count) {
  read_row(plan.k, b, kv_head, t, 0, plan.channels, work.k);
  read_row(plan.v, b, kv_head, t, column, count, work.v);
  for (int g = 0; g < plan.group; ++g)
    read_row(plan.q, b, kv_head * plan.group + g, t, 0, plan.channels, work.q + g * work.row);
  if (!pool::has_decay(plan.rule)) return;
  const bool shared = plan.decay.shape[3] == 1;
  read_row(plan.decay, b, kv_head, t, 0, shared ? 1 : plan.channels, work.keep);
  if (shared) {
    const float decay = work.keep[0];
    for (int i = 0; i < plan.channels; ++i) work.keep[i] = decay;
  }
  for (int i = 0; i < plan.channels; i += kLanes)
    exp(Lane::load(work.keep + i)).store(work.keep + i);
}

/// kTilePad floats in as many vectors as that takes.
struct Line {
  static constexpr int kVectors = kTilePad / kLanes;
  Lane part[kVectors];

  ATTN_FN static Line load(const float* from) {
    Line line;
    for (int n = 0; n < kVectors; ++n) line.part[n] = Lane::load(from + n * kLanes);
    return line;
  }
  ATTN_FN void store(float* to) const {
    for (int n = 0; n < kVectors; ++n) part[n].store(to + n * kLanes);
  }
  ATTN_FN Line& scale(Lane by) {
    for (int n = 0; n < kVectors; ++n) part[n] *= by;
    return *this;
  }
  /// += by * other.
  ATTN_FN Line& add(Lane by, const Line& other) {
    for (int n = 0; n < kVectors; ++n) part[n] = multiply_add(by, other.part[n], part[n]);
    return *this;
  }
  ATTN_FN static Line zero() {
    Line line;
    for (int n = 0; n < kVectors; ++n) line.part[n] = Lane(0.0f);
    return line;
  }
};

/// One step of one line: S = e^g S, w = v or beta (v - S^T k), S += k w^T, out = scale S^T q.
template <bool kGated, bool kDelta>
ATTN_FN void step_line(const LinearPlan& plan, const Work& work, int line, float beta) {
  float* state = work.state + static_cast<std::int64_t>(line) * plan.channels * kTilePad;
  Line write = Line::load(work.v + line * kTilePad);
  if constexpr (kDelta) {
    Line seen = Line::zero();
    for (int i = 0; i < plan.channels; ++i) {
      Line s = Line::load(state + i * kTilePad);
      if constexpr (kGated) s.scale(Lane(work.keep[i])).store(state + i * kTilePad);
      seen.add(Lane(work.k[i]), s);
    }
    write.add(Lane(-1.0f), seen).scale(Lane(beta));
  }
  Line out = Line::zero();
  for (int i = 0; i < plan.channels; ++i) {
    Line s = Line::load(state + i * kTilePad);
    if constexpr (kGated && !kDelta) s.scale(Lane(work.keep[i]));
    s.add(Lane(work.k[i]), write).store(state + i * kTilePad);
    out.add(Lane(work.q[i]), s);
  }
  out.scale(Lane(plan.scale)).store(work.out + line * kTilePad);
  for (int g = 1; g < plan.group; ++g) {
    const float* q = work.q + g * work.row;
    Line other = Line::zero();
    for (int i = 0; i < plan.channels; ++i)
      other.add(Lane(q[i]), Line::load(state + i * kTilePad));
    other.scale(Lane(plan.scale)).store(work.out + g * kLinearColumns + line * kTilePad);
  }
}

ATTN_FN void step_lines(const LinearPlan& plan, const Work& work, int lines, float beta) {
  const bool gated = pool::has_decay(plan.rule);
  const bool delta = pool::has_delta(plan.rule);
  for (int line = 0; line < lines; ++line) {
    if (gated && delta) step_line<true, true>(plan, work, line, beta);
    if (gated && !delta) step_line<true, false>(plan, work, line, beta);
    if (!gated && delta) step_line<false, true>(plan, work, line, beta);
    if (!gated && !delta) step_line<false, false>(plan, work, line, beta);
  }
}

void linear_block(const LinearPlan& plan, int batch, int kv_head, int column,
                  std::byte* scratch) {
  const Work work = work_of(plan, scratch);
  const int left = plan.values - column;
  const int count = min(left, kLinearColumns);
  const int lines = (count + kTilePad - 1) / kTilePad;
  clear(work.v, kLinearColumns);
  clear(work.keep, work.row);
  clear(work.state, plan.channels * kLinearColumns);
  const auto in_line = [&](int line) ATTN_LAMBDA {
    const int rest = count - line * kTilePad;
    return min(rest, kTilePad);
  };
  const auto state_row = [&](int line, int i) ATTN_LAMBDA {
    return work.state + (static_cast<std::int64_t>(line) * plan.channels + i) * kTilePad;
  };
  for (int line = 0; line < lines && plan.past.data != nullptr; ++line)
    for (int i = 0; i < plan.channels; ++i)
      read_row(plan.past, batch, kv_head, i, column + line * kTilePad, in_line(line),
               state_row(line, i));

  for (int t = 0; t < plan.steps; ++t) {
    load_step(plan, work, batch, kv_head, t, column, count);
    float beta = 1.0f;
    if (pool::has_delta(plan.rule)) read_row(plan.beta, batch, kv_head, t, 0, 1, &beta);
    step_lines(plan, work, lines, beta);
    for (int g = 0; g < plan.group; ++g)
      write_row(plan.out, batch, kv_head * plan.group + g, t, column, count,
                work.out + g * kLinearColumns);
  }
  for (int line = 0; line < lines && plan.state.data != nullptr; ++line)
    for (int i = 0; i < plan.channels; ++i)
      write_row(plan.state, batch, kv_head, i, column + line * kTilePad, in_line(line),
                state_row(line, i));
}

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const LinearTable& isa_table<LinearTable, Target::ATTN_TARGET>() {
  static constexpr LinearTable kTable{&linear_block};
  return kTable;
}

}  // namespace attn::cpu
