#include "models/packed_linear.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::models {
namespace {

void expect_near(const Tensor& seen, const Tensor& wanted, int length) {
  ASSERT_EQ(seen.shape(), wanted.shape());
  const Tensor a = seen.to(DType::f64).contiguous();
  const Tensor b = wanted.to(DType::f64).contiguous();
  const double near = test::tolerance(seen.dtype(), length);
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double want = b.data<double>()[i];
    EXPECT_NEAR(a.data<double>()[i], want, near * (1.0 + std::abs(want) + length)) << i;
  }
}

TEST(PackedLinear, IsTheLinearLayer) {
  Random random(1);
  for (const DType dtype : {DType::f32, DType::f64})
    for (const std::int64_t rows : {0, 1, 5, 7, 33})
      for (const std::int64_t in : {1, 9, 64})
        for (const std::int64_t out : {1, 8, 37, 96}) {
          const Tensor weight = normal({out, in}, 0.0, 1.0, random, dtype);
          const Tensor bias = normal({out}, 0.0, 1.0, random, dtype);
          const Tensor x = normal({rows, 1, in}, 0.0, 1.0, random, dtype);
          const Tensor more = normal({rows, 1, out}, 0.0, 1.0, random, dtype);
          const PackedLinear packed(weight, bias);
          SCOPED_TRACE(testing::Message() << rows << " rows, " << in << " to " << out);
          const Tensor wanted = linear(x, weight, bias);
          expect_near(packed(x), wanted, static_cast<int>(in));
          expect_near(packed(x, Then::relu), relu(wanted), static_cast<int>(in));
          expect_near(packed.plus(x, more), wanted + more, static_cast<int>(in));
        }
}

TEST(PackedLinear, ReadsWhatIsNotPacked) {
  Random random(2);
  const Tensor weight = normal({24, 12}, 0.0, 1.0, random);
  const Tensor bias = normal({24}, 0.0, 1.0, random);
  const Tensor x = normal({12, 6}, 0.0, 1.0, random).transpose(0, 1);
  expect_near(PackedLinear(weight, bias)(x), linear(x, weight, bias), 12);
}

// As 8-bit files have them: whole multiples of a step that bf16 does not hold.
TEST(PackedLinear, WholeMultiplesOfAStepAreTheLinearLayer) {
  constexpr float kStep = 0.0126929599f;
  Random random(6);
  for (const std::int64_t rows : {1, 3})
    for (const std::int64_t out : {1, 37, 96}) {
      const Tensor levels = random_integers({out, 64}, -255, 256, random);
      const Tensor weight = Tensor::empty({out, 64});
      for (std::int64_t i = 0; i < weight.numel(); ++i)
        weight.mutable_data<float>()[i] =
            static_cast<float>(i % 50 == 0 ? 1 : levels.data<std::int64_t>()[i]) * kStep;
      const Tensor bias = normal({out}, 0.0, 1.0, random);
      const Tensor x = normal({rows, 64}, 0.0, 1.0, random);
      const Tensor more = normal({rows, out}, 0.0, 1.0, random);
      const PackedLinear packed(weight, bias);
      EXPECT_TRUE(packed.is_narrow());
      expect_near(packed(x), linear(x, weight, bias), 64);
      expect_near(packed.plus(x, more), linear(x, weight, bias) + more, 64);
      // A number between two steps keeps all of them as they are.
      weight.mutable_data<float>()[out * 64 - 1] = 1.5f * kStep;
      EXPECT_FALSE(PackedLinear(weight, bias).is_narrow());
      weight.mutable_data<float>()[out * 64 - 1] = 257.0f * kStep;
      EXPECT_FALSE(PackedLinear(weight, bias).is_narrow());
    }
}

TEST(PackedLinear, NumbersThatBf16HoldsGiveTheSameBits) {
  Random random(4);
  for (const std::int64_t rows : {1, 5, 33})
    for (const std::int64_t out : {1, 8, 37, 96}) {
      const Tensor weight = normal({out, 65}, 0.0, 1.0, random).to(DType::bf16).to(DType::f32);
      const Tensor bias = normal({out}, 0.0, 1.0, random);
      const Tensor x = normal({rows, 65}, 0.0, 1.0, random);
      // One more column, which bf16 does not hold, keeps the others in f32.
      Tensor wider = Tensor::empty({out + 1, 65});
      std::copy_n(weight.data<float>(), out * 65, wider.mutable_data<float>());
      std::fill_n(wider.mutable_data<float>() + out * 65, 65, 0.1f);
      const Tensor wide =
          PackedLinear(wider, normal({out + 1}, 0.0, 0.0, random))(x).contiguous();
      const Tensor narrow = PackedLinear(weight, normal({out}, 0.0, 0.0, random))(x);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < out; ++c)
          EXPECT_EQ(narrow.data<float>()[r * out + c], wide.data<float>()[r * (out + 1) + c])
              << rows << " rows, " << out << " columns, at " << r << ", " << c;
      expect_near(PackedLinear(weight, bias)(x), linear(x, weight, bias), 65);
    }
}

TEST(PackedLayers, SeeAWeightThatChanged) {
  Random random(5);
  const Tensor weight = normal({24, 12}, 0.0, 1.0, random);
  const Tensor bias = normal({24}, 0.0, 1.0, random);
  const Tensor other = normal({24, 12}, 0.0, 1.0, random);
  const Tensor x = normal({3, 12}, 0.0, 1.0, random);
  PackedLayers layers;
  expect_near(layers.get(weight, bias)(x), linear(x, weight, bias), 12);
  expect_near(layers.get(other, bias)(x), linear(x, other, bias), 12);
  weight.mutable_data<float>()[5] = 7.0f;
  expect_near(layers.get(weight, bias)(x), linear(x, weight, bias), 12);
  bias.mutable_data<float>()[23] = 9.0f;
  expect_near(layers.get(other, bias)(x), linear(x, other, bias), 12);
}

TEST(PackedLinear, ThreadsChangeNoBit) {
  Random random(3);
  const Tensor weight = normal({1000, 256}, 0.0, 1.0, random);
  const Tensor bias = normal({1000}, 0.0, 1.0, random);
  const Tensor x = normal({100, 256}, 0.0, 1.0, random);
  const PackedLinear packed(weight, bias);
  const int before = ThreadPool::default_threads();
  std::vector<std::vector<float>> made;
  for (const int threads : {1, 3}) {
    ThreadPool::set_default_threads(threads);
    const Tensor y = packed(x);
    made.emplace_back(y.data<float>(), y.data<float>() + y.numel());
  }
  ThreadPool::set_default_threads(before);
  EXPECT_EQ(made[0], made[1]);
}

}  // namespace
/// As of a module that was trained on the GPU and came back.
TEST(PackedLayers, SeeAWeightThatWasGivenOtherMemory) {
  Random random(7);
  const Tensor weight = normal({40, 24}, 0.0, 1.0, random);
  const Tensor bias = normal({40}, 0.0, 1.0, random);
  const Tensor x = normal({3, 24}, 0.0, 1.0, random);
  PackedLayers layers;
  expect_near(layers.get(weight, bias)(x), linear(x, weight, bias), 24);
  for (int turn = 0; turn < 3; ++turn) {
    weight.impl().storage = normal({40, 24}, 0.0, 1.0, random).impl().storage;
    expect_near(layers.get(weight, bias)(x), linear(x, weight, bias), 24);
  }
}

}  // namespace attn::models
