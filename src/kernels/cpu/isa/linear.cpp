// Linear attention for one instruction set: the recurrences of attn/pool/linear.hpp on a block
// of value channels.
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"
#include "kernels/cpu/linear_plan.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

template <class T>
ATTN_FN void load_row(const T* from, std::int64_t stride, int count, float* to) {
  int c = 0;
  if (stride == 1) {
    for (; c + kLanes <= count; c += kLanes) Lane::load(from + c).store(to + c);
    if (c < count) Lane::load(from + c, count - c).store(to + c, count - c);
    return;
  }
  for (; c < count; ++c) to[c] = static_cast<float>(from[c * stride]);
}

/// Channels [first, first + count) of row t of a view, as floats.
void read_row(const RawView& view, int b, int h, int t, int first, int count, float* to) {
  const std::int64_t place =
      b * view.strides[0] + h * view.strides[1] + t * view.strides[2] + first * view.strides[3];
  if (view.dtype == DType::bf16) {
    load_row(static_cast<const BFloat16*>(view.data) + place, view.strides[3], count, to);
  } else if (view.dtype == DType::f16) {
    load_row(static_cast<const Float16*>(view.data) + place, view.strides[3], count, to);
  } else {
    load_row(static_cast<const float*>(view.data) + place, view.strides[3], count, to);
  }
}

template <class T>
ATTN_FN void store_row(const float* from, int count, T* to, std::int64_t stride) {
  int c = 0;
  if (stride == 1) {
    for (; c + kLanes <= count; c += kLanes) Lane::load(from + c).store(to + c);
    if (c < count) Lane::load(from + c, count - c).store(to + c, count - c);
    return;
  }
  for (; c < count; ++c) to[c * stride] = T(from[c]);
}

void write_row(const RawView& view, int b, int h, int t, int first, int count,
               const float* from) {
  const std::int64_t place =
      b * view.strides[0] + h * view.strides[1] + t * view.strides[2] + first * view.strides[3];
  if (view.dtype == DType::bf16) {
    store_row(from, count, static_cast<BFloat16*>(view.data) + place, view.strides[3]);
  } else if (view.dtype == DType::f16) {
    store_row(from, count, static_cast<Float16*>(view.data) + place, view.strides[3]);
  } else {
    store_row(from, count, static_cast<float*>(view.data) + place, view.strides[3]);
  }
}

/// The vectors of one task; rows of columns are kLinearColumns apart, with zeros past the last.
struct Work {
  float* k;
  float* keep;  ///< e^decay
  float* q;     ///< [group, channels]
  float* v;     ///< [kLinearColumns], then what is written along k
  float* read;  ///< S^T k
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
  work.read = work.v + kLinearColumns;
  work.out = work.read + kLinearColumns;
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

/// S = e^g S, and S^T k beside it when the delta rule asks.
ATTN_FN void decay_and_read(const LinearPlan& plan, const Work& work, int width) {
  const bool gated = pool::has_decay(plan.rule);
  const bool delta = pool::has_delta(plan.rule);
  if (delta) clear(work.read, width);
  if (!gated && !delta) return;
  for (int i = 0; i < plan.channels; ++i) {
    const Lane keep(gated ? work.keep[i] : 1.0f);
    const Lane k(delta ? work.k[i] : 0.0f);
    float* row = work.state + i * kLinearColumns;
    for (int j = 0; j < width; j += kLanes) {
      const Lane kept = Lane::load(row + j) * keep;
      kept.store(row + j);
      if (delta) multiply_add(kept, k, Lane::load(work.read + j)).store(work.read + j);
    }
  }
}

/// S += k w^T, then out = S^T q for every query head of the group.
ATTN_FN void write_and_pool(const LinearPlan& plan, const Work& work, int width) {
  clear(work.out, plan.group * kLinearColumns);
  for (int i = 0; i < plan.channels; ++i) {
    const Lane k(work.k[i]);
    float* row = work.state + i * kLinearColumns;
    for (int j = 0; j < width; j += kLanes) {
      const Lane next = multiply_add(k, Lane::load(work.v + j), Lane::load(row + j));
      next.store(row + j);
      for (int g = 0; g < plan.group; ++g) {
        float* out = work.out + g * kLinearColumns + j;
        multiply_add(Lane(work.q[g * work.row + i]), next, Lane::load(out)).store(out);
      }
    }
  }
}

}  // namespace

void linear_block(const LinearPlan& plan, int batch, int kv_head, int column,
                  std::byte* scratch) {
  const Work work = work_of(plan, scratch);
  const int left = plan.values - column;
  const int count = left < kLinearColumns ? left : kLinearColumns;
  const int width = (count + kTilePad - 1) / kTilePad * kTilePad;
  clear(work.v, kLinearColumns);
  clear(work.keep, work.row);
  clear(work.state, plan.channels * kLinearColumns);
  if (plan.past.data != nullptr)
    for (int i = 0; i < plan.channels; ++i)
      read_row(plan.past, batch, kv_head, i, column, count, work.state + i * kLinearColumns);

  for (int t = 0; t < plan.steps; ++t) {
    load_step(plan, work, batch, kv_head, t, column, count);
    decay_and_read(plan, work, width);
    if (pool::has_delta(plan.rule)) {
      float beta = 1.0f;
      read_row(plan.beta, batch, kv_head, t, 0, 1, &beta);
      for (int j = 0; j < width; j += kLanes)
        (Lane(beta) * (Lane::load(work.v + j) - Lane::load(work.read + j))).store(work.v + j);
    }
    write_and_pool(plan, work, width);
    for (int g = 0; g < plan.group; ++g) {
      float* out = work.out + g * kLinearColumns;
      for (int j = 0; j < width; j += kLanes)
        (Lane(plan.scale) * Lane::load(out + j)).store(out + j);
      write_row(plan.out, batch, kv_head * plan.group + g, t, column, count, out);
    }
  }
  if (plan.state.data != nullptr)
    for (int i = 0; i < plan.channels; ++i)
      write_row(plan.state, batch, kv_head, i, column, count, work.state + i * kLinearColumns);
}

}  // namespace attn::cpu::inline ATTN_TARGET
