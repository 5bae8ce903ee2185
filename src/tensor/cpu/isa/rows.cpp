// The kernels on one row of floats, for one instruction set. A row of usual length stays in the
// nearest cache between the passes over it.

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "tensor/cpu/rows_table.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

/// All lanes of a vector, or the first few: the end of a row.
struct Whole {};
struct Part {
  int count;
};

ATTN_FN Lane load(const float* from, Whole) {
  return Lane::load(from);
}
ATTN_FN Lane load(const float* from, Part part) {
  return Lane::load(from, part.count);
}
ATTN_FN void store(Lane x, float* to, Whole) {
  x.store(to);
}
ATTN_FN void store(Lane x, float* to, Part part) {
  x.store(to, part.count);
}
/// `other` in lanes past the end of the row.
ATTN_FN Lane within(Whole, Lane x, Lane /*other*/) {
  return x;
}
ATTN_FN Lane within(Part part, Lane x, Lane other) {
  return select(first_lanes(part.count), x, other);
}

ATTN_FN LaneMask load_keep(const bool* from, Whole) {
  const simd::Rebind<std::uint8_t, IntTag> tag;
  const auto bytes = simd::LoadU(tag, reinterpret_cast<const std::uint8_t*>(from));
  return LaneIndex(simd::PromoteTo(IntTag(), bytes)) != 0;
}
ATTN_FN LaneMask load_keep(const bool* from, Part part) {
  bool buffer[kLanes] = {};
  for (int i = 0; i < part.count; ++i) buffer[i] = from[i];
  return load_keep(buffer, Whole{});
}

/// Calls body(place, Whole or Part) along a row.
template <class Body>
ATTN_FN void walk(std::int64_t count, const Body& body) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) body(i, Whole{});
  if (i < count) body(i, Part{static_cast<int>(count - i)});
}

/// The same for sums of term(place, piece), in four accumulators: an addition takes four cycles
/// and two can start in each.
template <class Term, class Join>
ATTN_FN Lane fold(std::int64_t count, Lane start, const Term& term, const Join& join) {
  Lane a = start, b = start, c = start, d = start;
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    a = join(a, term(i, Whole{}));
    b = join(b, term(i + kLanes, Whole{}));
    c = join(c, term(i + 2 * kLanes, Whole{}));
    d = join(d, term(i + 3 * kLanes, Whole{}));
  }
  for (; i + kLanes <= count; i += kLanes) a = join(a, term(i, Whole{}));
  if (i < count) b = join(b, term(i, Part{static_cast<int>(count - i)}));
  return join(join(a, b), join(c, d));
}
template <class Term>
ATTN_FN float sum_of(std::int64_t count, const Term& term) {
  return reduce_sum(
      fold(count, 0.0f, term, [](Lane sum, Lane x) ATTN_LAMBDA { return sum + x; }));
}
/// A NaN may be lost here; it shows in the sum of exponentials.
template <class Term>
ATTN_FN float max_of(std::int64_t count, const Term& term) {
  return reduce_max(
      fold(count, -kInfinity, term, [](Lane top, Lane x) ATTN_LAMBDA { return max(top, x); }));
}

/// What to subtract before e^x: only -inf and NaN are left where the largest is -inf, and for
/// them 0 will do.
ATTN_FN float base_of(float top) {
  return top == -kInfinity ? 0.0f : top;
}

template <bool kMasked>
ATTN_FN void softmax_row(std::int64_t count, const float* x, const bool* keep, float* out) {
  const auto score = [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    const Lane s = within(piece, load(x + i, piece), -kInfinity);
    if constexpr (kMasked) return select(load_keep(keep + i, piece), s, Lane(-kInfinity));
    return s;
  };
  const Lane base = base_of(max_of(count, score));
  Lane sums = 0.0f;
  walk(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    const Lane e = exp_nonpositive(score(i, piece) - base);
    store(e, out + i, piece);
    sums += e;
  });
  const float sum = reduce_sum(sums);
  const Lane factor = sum == 0.0f ? 0.0f : 1.0f / sum;
  walk(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    Lane y = load(out + i, piece) * factor;
    // In a row of NaN, too, what was left out is 0.
    if constexpr (kMasked) y = select(load_keep(keep + i, piece), y, Lane(0.0f));
    store(y, out + i, piece);
  });
}

void softmax(std::int64_t count, const float* x, const bool* keep, float* out) {
  if (keep == nullptr) {
    softmax_row<false>(count, x, keep, out);
  } else {
    softmax_row<true>(count, x, keep, out);
  }
}

void softmax_backward(std::int64_t count, const float* y, const float* grad, float* dx) {
  const Lane zero = 0.0f;
  const Lane dot = sum_of(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    const Lane weight = load(y + i, piece);
    return select(weight == zero, zero, weight * load(grad + i, piece));
  });
  walk(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    const Lane weight = load(y + i, piece);
    const Lane slope = weight * (load(grad + i, piece) - dot);
    store(select(weight == zero, zero, slope), dx + i, piece);
  });
}

/// Numbers whose maximum is taken before their exponentials: 8 KB, a quarter of the nearest
/// cache, so that a long row comes from memory once.
constexpr std::int64_t kChunk = 2048;

RowSum<float> exp_sum(std::int64_t count, const float* x) {
  float top = -kInfinity;
  Lane sums = 0.0f;
  Lane totals = 0.0f;
  for (std::int64_t begin = 0; begin < count; begin += kChunk) {
    const float* chunk = x + begin;
    const std::int64_t size = count - begin < kChunk ? count - begin : kChunk;
    const float chunk_top = max_of(size, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
      return within(piece, load(chunk + i, piece), -kInfinity);
    });
    if (chunk_top > top) {
      sums *= exp_nonpositive(Lane(top - chunk_top));
      top = chunk_top;
    }
    const Lane base = base_of(top);
    walk(size, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
      const Lane s = load(chunk + i, piece);
      totals += s;
      sums += exp_nonpositive(within(piece, s, -kInfinity) - base);
    });
  }
  return {top, reduce_sum(sums), reduce_sum(totals)};
}

void log_softmax(std::int64_t count, const float* x, float* out) {
  const RowSum<float> row = exp_sum(count, x);
  const Lane top = row.max;
  const Lane log_sum = log(Lane(row.sum));
  walk(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    const Lane s = load(x + i, piece);
    store(select(s == Lane(-kInfinity), s, (s - top) - log_sum), out + i, piece);
  });
}

void log_softmax_backward(std::int64_t count, const float* y, const float* grad, float* dx) {
  const Lane zero = 0.0f;
  const Lane sum = sum_of(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    return select(load(y + i, piece) == Lane(-kInfinity), zero, load(grad + i, piece));
  });
  walk(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    const Lane s = load(y + i, piece);
    const Lane slope = negative_multiply_add(exp(s), sum, load(grad + i, piece));
    store(select(s == Lane(-kInfinity), zero, slope), dx + i, piece);
  });
}

RowMoments<float> layer_norm(std::int64_t count, const float* x, const float* weight,
                             const float* bias, float eps, float* out) {
  const auto n = static_cast<float>(count);
  const float mean = sum_of(count, [&](std::int64_t i, auto piece)
                                       ATTN_LAMBDA { return load(x + i, piece); }) /
                     n;
  const Lane middle = mean;
  const float squares = sum_of(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    const Lane off = within(piece, load(x + i, piece) - middle, 0.0f);
    return off * off;
  });
  const float scale = first(1.0f / sqrt(Lane(squares / n + eps)));
  walk(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    Lane y = (load(x + i, piece) - middle) * Lane(scale);
    if (weight != nullptr) y *= load(weight + i, piece);
    if (bias != nullptr) y += load(bias + i, piece);
    store(y, out + i, piece);
  });
  return {mean, scale};
}

void layer_norm_backward(const LayerNormShared<float>& shared, const float* x,
                         const float* grad, const RowMoments<float>& moments, float* dx) {
  const std::int64_t count = shared.count;
  const Lane scale = moments.scale;
  const auto normal = [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    return (load(x + i, piece) - Lane(moments.mean)) * scale;
  };
  const auto slope = [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    const Lane g = load(grad + i, piece);
    return shared.weight == nullptr ? g : g * load(shared.weight + i, piece);
  };
  if (shared.d_weight != nullptr)
    walk(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
      float* to = shared.d_weight + i;
      store(multiply_add(load(grad + i, piece), normal(i, piece), load(to, piece)), to, piece);
    });
  if (shared.d_bias != nullptr)
    walk(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
      float* to = shared.d_bias + i;
      store(load(to, piece) + load(grad + i, piece), to, piece);
    });
  if (dx == nullptr) return;
  const auto n = static_cast<float>(count);
  const Lane mean = sum_of(count, slope) / n;
  // Past the end the slope is 0, whatever the normalised number is.
  const Lane tilt =
      sum_of(count, [&](std::int64_t i, auto piece)
                        ATTN_LAMBDA { return slope(i, piece) * normal(i, piece); }) /
      n;
  walk(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    const Lane off = negative_multiply_add(normal(i, piece), tilt, slope(i, piece) - mean);
    store(scale * off, dx + i, piece);
  });
}

void cross_entropy_backward(std::int64_t count, const float* x, float max, float factor,
                            float shift, float* dx) {
  const Lane base = base_of(max);
  walk(count, [&](std::int64_t i, auto piece) ATTN_LAMBDA {
    const Lane e = exp_nonpositive(load(x + i, piece) - base);
    store(multiply_add(e, factor, Lane(-shift)), dx + i, piece);
  });
}

constexpr RowTable<float> kTable{
    softmax,    softmax_backward,    log_softmax, log_softmax_backward,
    layer_norm, layer_norm_backward, exp_sum,     cross_entropy_backward};

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const RowTable<float>& isa_table<RowTable<float>, Target::ATTN_TARGET>() {
  return kTable;
}

}  // namespace attn::cpu
