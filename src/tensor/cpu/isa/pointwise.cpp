// Pointwise kernels for one instruction set.
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/philox.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"  // IWYU pragma: keep
#include "kernels/cpu/isa_table.hpp"
#include "tensor/cpu/pointwise_table.hpp"
#include "tensor/pointwise_functors.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

template <class F>
struct Unary {
  static void forward(std::int64_t count, float a, float b, const float* x, float* y) {
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      F::template forward<Lane>(Lane::load(x + i), Lane(a), Lane(b)).store(y + i);
    if (const int rest = static_cast<int>(count - i); rest > 0)
      F::template forward<Lane>(Lane::load(x + i, rest), Lane(a), Lane(b)).store(y + i, rest);
  }

  static void backward(std::int64_t count, float a, float b, const float* grad, const float* x,
                       const float* y, float* dx) {
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      const Lane slope =
          F::template slope<Lane>(Lane::load(x + i), Lane::load(y + i), Lane(a), Lane(b));
      (Lane::load(grad + i) * slope).store(dx + i);
    }
    if (const int rest = static_cast<int>(count - i); rest > 0) {
      const Lane slope = F::template slope<Lane>(Lane::load(x + i, rest),
                                                 Lane::load(y + i, rest), Lane(a), Lane(b));
      (Lane::load(grad + i, rest) * slope).store(dx + i, rest);
    }
  }

  static constexpr UnaryKernel kKernel{&forward, &backward};
};

/// Numbers `step` apart; 1 and 0 are the common cases and stay vectors.
ATTN_FN Lane load_stepped(const float* from, std::int64_t step, int count) {
  if (step == 1) return count == kLanes ? Lane::load(from) : Lane::load(from, count);
  if (step == 0) return Lane(*from);
  float numbers[kLanes] = {};
  for (int i = 0; i < count; ++i) numbers[i] = from[i * step];
  return Lane::load(numbers);
}

template <class F>
void binary(std::int64_t count, const float* a, std::int64_t a_step, const float* b,
            std::int64_t b_step, float* out) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Lane x = load_stepped(a + i * a_step, a_step, kLanes);
    const Lane y = load_stepped(b + i * b_step, b_step, kLanes);
    F::template forward<Lane>(x, y).store(out + i);
  }
  if (const int rest = static_cast<int>(count - i); rest > 0) {
    const Lane x = load_stepped(a + i * a_step, a_step, rest);
    const Lane y = load_stepped(b + i * b_step, b_step, rest);
    F::template forward<Lane>(x, y).store(out + i, rest);
  }
}

float sum(std::int64_t count, const float* x) {
  // Four sums hide the latency of an addition.
  Lane total[4] = {Lane(0.0f), Lane(0.0f), Lane(0.0f), Lane(0.0f)};
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes)
    for (int part = 0; part < 4; ++part) total[part] += Lane::load(x + i + part * kLanes);
  for (; i + kLanes <= count; i += kLanes) total[0] += Lane::load(x + i);
  if (i < count) total[1] += Lane::load(x + i, static_cast<int>(count - i));
  return reduce_sum((total[0] + total[1]) + (total[2] + total[3]));
}

float sum_of_squares(std::int64_t count, const float* x) {
  Lane total[4] = {Lane(0.0f), Lane(0.0f), Lane(0.0f), Lane(0.0f)};
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    for (int part = 0; part < 4; ++part) {
      const Lane number = Lane::load(x + i + part * kLanes);
      total[part] = multiply_add(number, number, total[part]);
    }
  }
  for (; i < count; i += kLanes) {
    const int rest = static_cast<int>(count - i < kLanes ? count - i : kLanes);
    const Lane number = Lane::load(x + i, rest);
    total[0] = multiply_add(number, number, total[0]);
  }
  return reduce_sum((total[0] + total[1]) + (total[2] + total[3]));
}

/// keep where the word is not below the bound, else 0. Words compare as unsigned.
ATTN_FN Lane factor_of(LaneIndex word, LaneIndex bound, Lane keep) {
  const LaneIndex flip(static_cast<int>(0x80000000u));
  return select((word ^ flip) < (bound ^ flip), Lane(0.0f), keep);
}

/// The factors of one chunk.
ATTN_FN void dropout_factors(std::int64_t chunk, std::uint64_t key, std::uint32_t bound,
                             float keep, float* factors) {
  const LaneIndex limit(static_cast<int>(bound));
  for (int b = 0; b < kDropoutBlocks; b += kLanes) {
    const auto block = static_cast<std::uint64_t>(chunk * kDropoutBlocks + b);
    const auto words = philox<LaneIndex>(
        {LaneIndex::ramp(static_cast<int>(static_cast<std::uint32_t>(block))),
         LaneIndex(static_cast<int>(block >> 32)), LaneIndex(0), LaneIndex(1)},
        key);
    const LaneIndex four[4] = {words.a, words.b, words.c, words.d};
    for (int w = 0; w < 4; ++w)
      factor_of(four[w], limit, Lane(keep)).store(factors + w * kDropoutBlocks + b);
  }
}

void dropout(std::int64_t first, std::int64_t count, std::uint64_t key, std::uint32_t bound,
             float keep, const float* x, float* y) {
  static_assert(kDropoutBlocks % kLanes == 0);
  float factors[kDropoutChunk];
  for (std::int64_t done = 0; done < count; done += kDropoutChunk) {
    dropout_factors((first + done) / kDropoutChunk, key, bound, keep, factors);
    const int here =
        static_cast<int>(count - done < kDropoutChunk ? count - done : kDropoutChunk);
    for (int i = 0; i < here; i += kLanes) {
      const int lanes = here - i < kLanes ? here - i : kLanes;
      (Lane::load(x + done + i, lanes) * Lane::load(factors + i)).store(y + done + i, lanes);
    }
  }
}

void accumulate_row(std::int64_t count, const float* from, float* to) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    (Lane::load(to + i) + Lane::load(from + i)).store(to + i);
  if (const int rest = static_cast<int>(count - i); rest > 0)
    (Lane::load(to + i, rest) + Lane::load(from + i, rest)).store(to + i, rest);
}

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const PointwiseTable& isa_table<PointwiseTable, Target::ATTN_TARGET>() {
  using namespace pointwise;  // NOLINT(google-build-using-namespace): the list below
  static constexpr PointwiseTable kTable{
      {Unary<Affine>::kKernel, Unary<Exp>::kKernel, Unary<Log>::kKernel, Unary<Sqrt>::kKernel,
       Unary<Square>::kKernel, Unary<Abs>::kKernel, Unary<Tanh>::kKernel,
       Unary<Sigmoid>::kKernel, Unary<Relu>::kKernel, Unary<Gelu>::kKernel, Unary<Elu>::kKernel,
       Unary<Clamp>::kKernel},
      {&binary<Add>, &binary<Sub>, &binary<Mul>, &binary<Div>, &binary<Maximum>,
       &binary<Minimum>, &binary<Gate>, &binary<Equal>},
      &sum,
      &sum_of_squares,
      &accumulate_row,
      &dropout};
  return kTable;
}

}  // namespace attn::cpu
