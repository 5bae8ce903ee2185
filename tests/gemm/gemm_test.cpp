// The entry point of products: transposition, beta, bias, batches, misuse.

#include "attn/gemm/gemm.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::gemm {
namespace {

using test::Random;

/// C by the definition, in double.
double entry(const Args<float>& args, std::int64_t i, std::int64_t j, double before) {
  double total = args.beta * before;
  for (std::int64_t p = 0; p < args.k; ++p) {
    const float a = args.transpose_a == Transpose::yes ? args.a[p * args.lda + i]
                                                       : args.a[i * args.lda + p];
    const float b = args.transpose_b == Transpose::yes ? args.b[j * args.ldb + p]
                                                       : args.b[p * args.ldb + j];
    total += static_cast<double>(a) * b;
  }
  return total;
}

std::vector<float> numbers(const char* name, std::int64_t count) {
  Random random(name);
  const auto values = random.numbers(static_cast<std::size_t>(count), -1.0, 1.0);
  return {values.begin(), values.end()};
}

TEST(Gemm, EveryTurnAndBetaIsTheDefinition) {
  const std::int64_t m = 5, n = 7, k = 3;
  for (const Transpose transpose_a : {Transpose::no, Transpose::yes}) {
    for (const Transpose transpose_b : {Transpose::no, Transpose::yes}) {
      for (const float beta : {0.0f, 1.0f, -0.5f}) {
        const auto a = numbers("a", 40), b = numbers("b", 60);
        const auto before = numbers("c", m * 9);
        auto c = before;
        const Args<float> args{.m = m,
                               .n = n,
                               .k = k,
                               .a = a.data(),
                               .lda = transpose_a == Transpose::yes ? 6 : 4,
                               .transpose_a = transpose_a,
                               .b = b.data(),
                               .ldb = transpose_b == Transpose::yes ? 4 : 8,
                               .transpose_b = transpose_b,
                               .c = c.data(),
                               .ldc = 9,
                               .beta = beta};
        product(args);
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            EXPECT_NEAR(c[static_cast<std::size_t>(i * 9 + j)],
                        entry(args, i, j, before[static_cast<std::size_t>(i * 9 + j)]),
                        test::kFloatSum);
      }
    }
  }
}

TEST(Gemm, ATurnedMatrixWithRowsFarApartIsTheSame) {
  const std::int64_t m = 37, n = 9, k = 11, lead = 512;
  const auto a = numbers("a", k * lead), b = numbers("b", k * n);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  const Args<float> args{.m = m,
                         .n = n,
                         .k = k,
                         .a = a.data(),
                         .lda = lead,
                         .transpose_a = Transpose::yes,
                         .b = b.data(),
                         .ldb = n,
                         .c = c.data(),
                         .ldc = n};
  product(args);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(c[static_cast<std::size_t>(i * n + j)], entry(args, i, j, 0.0),
                  test::kFloatSum);
}

TEST(Gemm, ABiasIsAddedToEveryRowOfEveryBlock) {
  for (const std::int64_t k : {0, 300}) {
    const std::int64_t m = 700, n = 1100;
    const auto a = numbers("a", m * 300), b = numbers("b", n * 300), bias = numbers("bias", n);
    std::vector<float> with(static_cast<std::size_t>(m * n)), without = with;
    Args<float> args{.m = m,
                     .n = n,
                     .k = k,
                     .a = a.data(),
                     .lda = 300,
                     .b = b.data(),
                     .ldb = n,
                     .c = without.data(),
                     .ldc = n};
    product(args);
    args.c = with.data();
    product(args, bias.data());
    for (std::size_t i = 0; i < with.size(); ++i)
      ASSERT_EQ(with[i], without[i] + bias[i % static_cast<std::size_t>(n)]) << i;
  }
}

TEST(Gemm, ThreadsChangeNoBit) {
  const std::int64_t size = 600;
  const auto a = numbers("a", size * size), b = numbers("b", size * size);
  std::vector<float> one(a.size()), two(a.size());
  Args<float> args{.m = size,
                   .n = size,
                   .k = size,
                   .a = a.data(),
                   .lda = size,
                   .b = b.data(),
                   .ldb = size,
                   .c = one.data(),
                   .ldc = size};
  product(args, {}, 1);
  args.c = two.data();
  product(args, {}, 2);
  EXPECT_EQ(one, two);
}

TEST(Gemm, WithoutDepthCIsScaledAndTheBiasAdded) {
  const std::vector<float> bias{1.0f, 2.0f, 3.0f};
  for (const float beta : {0.0f, 1.0f, 0.5f}) {
    std::vector<float> c{8.0f, 8.0f, 8.0f, 99.0f, 8.0f, 8.0f, 8.0f, 99.0f};
    product(
        Args<float>{
            .m = 2, .n = 3, .k = 0, .lda = 1, .ldb = 3, .c = c.data(), .ldc = 4, .beta = beta},
        bias.data());
    for (std::size_t i = 0; i < c.size(); ++i)
      EXPECT_EQ(c[i], i % 4 == 3 ? 99.0f : 8.0f * beta + bias[i % 4]);
  }
}

TEST(Gemm, WithoutRowsColumnsOrProductsNothingIsTouched) {
  float c = 5.0f;
  product(Args<float>{.m = 0, .n = 3, .k = 2, .lda = 2, .ldb = 3, .c = &c, .ldc = 3});
  product(Args<float>{.m = 3, .n = 0, .k = 2, .lda = 2, .ldb = 1, .c = &c, .ldc = 1});
  product(
      Args<float>{.m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .c = &c, .ldc = 1, .batch = 0});
  EXPECT_EQ(c, 5.0f);
}

TEST(Gemm, WrongStridesAreRefused) {
  float x = 0.0f;
  EXPECT_THROW(
      product(Args<float>{
          .m = 1, .n = 1, .k = 2, .a = &x, .lda = 1, .b = &x, .ldb = 1, .c = &x, .ldc = 1}),
      InvalidArgument);
  EXPECT_THROW(product(Args<float>{.m = -1}), InvalidArgument);
}

}  // namespace
}  // namespace attn::gemm
