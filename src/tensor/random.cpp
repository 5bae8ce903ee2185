#include "attn/tensor/random.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/philox.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/pointwise_table.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"
#include "tensor/random_draw.hpp"

namespace attn {
namespace {

/// A bijection that spreads nearby numbers. Steele, Lea and Flood, 2014 (SplitMix64).
std::uint64_t spread(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

using op::words_at;

/// Numbers of pairs, from draw.at(key, pair).
template <class Draw>
Tensor drawn_pairs(const Shape& shape, DType dtype, Device device, std::uint64_t key,
                   const Draw& draw) {
  const Tensor wide = Tensor::empty(shape, DType::f64, device);
  const auto on_cpu = [&] {
    auto* to = wide.mutable_data<double>();
    const std::int64_t count = shape.numel();
    op::each((count + 1) / 2, 1, [&](std::int64_t pair) {
      const op::DrawnPair two = draw.at(key, pair);
      to[2 * pair] = two.first;
      if (2 * pair + 1 < count) to[2 * pair + 1] = two.second;
    });
  };
  op::dispatch_device(wide, on_cpu, [&] { gpu::draw(draw, key, wide); });
  return wide.to(dtype);
}

}  // namespace

Random Random::named(std::string_view name) const {
  // FNV-1a: short, and the same everywhere.
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : name)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return Random(spread(key_ ^ spread(hash)));
}

std::uint64_t Random::next() {
  return spread(key_ ^ spread(++drawn_));
}

Random Random::at(std::uint64_t key, std::uint64_t drawn) {
  Random random(key);
  random.drawn_ = drawn;
  return random;
}

Tensor uniform(const Shape& shape, double low, double high, Random& random, DType dtype,
               Device device) {
  return drawn_pairs(shape, dtype, device, random.next(), op::UniformDraw{low, high});
}

Tensor normal(const Shape& shape, double mean, double deviation, Random& random, DType dtype,
              Device device) {
  return drawn_pairs(shape, dtype, device, random.next(), op::NormalDraw{mean, deviation});
}

Tensor random_integers(const Shape& shape, std::int64_t low, std::int64_t high,
                       Random& random) {
  if (high <= low)
    fail("attn::random_integers: [", low, ", ", high, ") is empty; low < high is accepted");
  const Tensor out = Tensor::empty(shape, DType::i64);
  auto* to = out.mutable_data<std::int64_t>();
  const std::uint64_t key = random.next();
  const auto range = static_cast<std::uint64_t>(high - low);
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    const auto words = words_at(key, i);
    const auto wide = static_cast<std::uint64_t>(words.a) << 32 | words.b;
    to[i] = low + static_cast<std::int64_t>(wide % range);
  }
  return out;
}

Tensor permutation(std::int64_t count, Random& random) {
  const Tensor out = Tensor::arange(count);
  auto* order = out.mutable_data<std::int64_t>();
  const std::uint64_t key = random.next();
  // Fisher and Yates.
  for (std::int64_t i = count - 1; i > 0; --i) {
    const auto words = words_at(key, i);
    const auto wide = static_cast<std::uint64_t>(words.a) << 32 | words.b;
    std::swap(order[i], order[wide % static_cast<std::uint64_t>(i + 1)]);
  }
  return out;
}

namespace {

using Draw = op::DropoutDraw;

void drop(const Draw& draw, std::int64_t count, const float* x, float* y) {
  op::in_blocks(count, op::kGrain, [&](std::int64_t begin, std::int64_t end) {
    cpu::pointwise_table().dropout(begin, end - begin, draw.key, draw.bound,
                                   static_cast<float>(draw.keep), x + begin, y + begin);
  });
}

void drop(const Draw& draw, std::int64_t count, const double* x, double* y) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto words = draw.words(i);
    const std::uint32_t four[4] = {words.a, words.b, words.c, words.d};
    const std::uint32_t word = four[i % op::kDropoutChunk / op::kDropoutBlocks];
    y[i] = word < draw.bound ? 0.0 : x[i] * draw.keep;
  }
}

Tensor dropped(const Draw& draw, const Tensor& input) {
  const Tensor x = input.contiguous();
  const Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device());
  op::dispatch_device_and_real(
      x, "attn::dropout",
      [&]<class T>(T) { drop(draw, x.numel(), x.data<T>(), y.mutable_data<T>()); },
      [&] { gpu::dropout(draw, x, y); });
  return y;
}

}  // namespace

Tensor dropout(const Tensor& x, double probability, Random& random) {
  op::require_real(x, "attn::dropout", "the input");
  if (!(probability >= 0.0 && probability < 1.0))
    fail("attn::dropout: probability ", probability, "; 0 <= probability < 1 is accepted");
  if (probability == 0.0) return x;
  if (op::is_widened(x)) return dropout(x.to(DType::f32), probability, random).to(x.dtype());
  const Draw draw{random.next(), static_cast<std::uint32_t>(probability * 0x1p32),
                  1.0 / (1.0 - probability)};
  // The gradient drops the same numbers; nothing is kept for it.
  return op::record_one("attn::dropout", x, dropped(draw, x.detach()),
                        [draw](const Tensor& grad) { return dropped(draw, grad); });
}

}  // namespace attn
