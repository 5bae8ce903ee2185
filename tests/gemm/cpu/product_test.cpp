// Products of every extent, stride and transposition equal the definition.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/kernels/target.hpp"
#include "gemm/cpu/product_table.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::gemm {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kUntouched = 77.0f;

/// Extents and how the matrices lie; `pad` numbers follow every row and must not be looked at.
struct Case {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  float beta = 0.0f;
  bool bias = false;
  std::int64_t batch = 1;
  std::int64_t pad = 0;
  bool share_b = false;

  std::string text() const {
    return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
           (transpose_a == Transpose::yes ? ", A turned" : "") +
           (transpose_b == Transpose::yes ? ", B turned" : "") + ", beta " +
           std::to_string(beta) + (bias ? ", bias" : "") + ", batch " + std::to_string(batch) +
           ", pad " + std::to_string(pad) + (share_b ? ", B shared" : "");
  }
};

/// The numbers of a case, NaN where nothing may be read.
class Problem {
 public:
  explicit Problem(const Case& problem) : case_(problem) {
    test::Random random(problem.text());
    const bool ta = problem.transpose_a == Transpose::yes;
    const bool tb = problem.transpose_b == Transpose::yes;
    a_ =
        matrices(random, ta ? problem.k : problem.m, ta ? problem.m : problem.k, problem.batch);
    b_ = matrices(random, tb ? problem.n : problem.k, tb ? problem.k : problem.n,
                  problem.share_b ? 1 : problem.batch);
    c_ = matrices(random, problem.m, problem.n, problem.batch);
    for (float& x : c_)
      if (x != x) x = kUntouched;
    bias_ = random.numbers<float>(static_cast<std::size_t>(problem.n));
    args_ = {.m = problem.m,
             .n = problem.n,
             .k = problem.k,
             .a = a_.data(),
             .lda = (ta ? problem.m : problem.k) + problem.pad,
             .transpose_a = problem.transpose_a,
             .b = b_.data(),
             .ldb = (tb ? problem.k : problem.n) + problem.pad,
             .transpose_b = problem.transpose_b,
             .ldc = problem.n + problem.pad,
             .beta = problem.beta,
             .batch = problem.batch};
    args_.a_stride = args_.lda * (ta ? problem.k : problem.m);
    args_.b_stride = problem.share_b ? 0 : args_.ldb * (tb ? problem.n : problem.k);
    args_.c_stride = args_.ldc * problem.m;
  }

  std::vector<float> run(Target target, int threads) const {
    std::vector<float> c = c_;
    // Where C is only written, what was there must not matter.
    for (std::int64_t i = 0; case_.beta == 0.0f && i < case_.batch * case_.m; ++i)
      for (std::int64_t j = 0; j < case_.n; ++j)
        c[static_cast<std::size_t>(i * args_.ldc + j)] = kNan;
    Args<float> args = args_;
    args.c = c.data();
    product_on(target, args, case_.bias ? bias_.data() : nullptr, threads);
    return c;
  }

  void expect_right(const std::vector<float>& got) const {
    const double within = test::tolerance(DType::f32, static_cast<int>(case_.k));
    for (std::int64_t p = 0; p < case_.batch; ++p)
      for (std::int64_t i = 0; i < case_.m; ++i)
        for (std::int64_t j = 0; j < args_.ldc; ++j) {
          const auto at = static_cast<std::size_t>(p * args_.c_stride + i * args_.ldc + j);
          if (j >= case_.n) {
            ASSERT_EQ(got[at], kUntouched) << "beyond row " << i;
          } else {
            ASSERT_TRUE(test::close(double{got[at]}, want(p, i, j, double{c_[at]}), within))
                << "at " << p << ", " << i << ", " << j;
          }
        }
  }

 private:
  std::vector<float> matrices(test::Random& random, std::int64_t rows, std::int64_t columns,
                              std::int64_t batch) const {
    std::vector<float> result;
    for (std::int64_t row = 0; row < rows * batch; ++row) {
      const auto numbers = random.numbers<float>(static_cast<std::size_t>(columns));
      result.insert(result.end(), numbers.begin(), numbers.end());
      result.insert(result.end(), static_cast<std::size_t>(case_.pad), kNan);
    }
    return result;
  }

  double want(std::int64_t p, std::int64_t i, std::int64_t j, double before) const {
    double sum = case_.bias ? double{bias_[static_cast<std::size_t>(j)]} : 0.0;
    if (case_.beta != 0.0f) sum += double{case_.beta} * before;
    const float* a = args_.a + p * args_.a_stride;
    const float* b = args_.b + p * args_.b_stride;
    for (std::int64_t k = 0; k < case_.k; ++k)
      sum += double{case_.transpose_a == Transpose::yes ? a[k * args_.lda + i]
                                                        : a[i * args_.lda + k]} *
             double{case_.transpose_b == Transpose::yes ? b[j * args_.ldb + k]
                                                        : b[k * args_.ldb + j]};
    return sum;
  }

  Case case_;
  Args<float> args_;
  std::vector<float> a_, b_, c_, bias_;
};

/// Extents on both sides of every block, vector and part that the kernels know.
Case random_case(test::Random& random, Transpose transpose_a, Transpose transpose_b) {
  const std::vector<std::int64_t> rows{1,  2,  3,  4,  5,  6,  7,  8,  9,
                                       11, 12, 13, 23, 25, 48, 49, 61, 150};
  const std::vector<std::int64_t> columns{1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 65, 130};
  const std::vector<std::int64_t> depths{1, 2, 3, 15, 16, 17, 31, 64, 77, 511, 513, 530};
  const auto one_of = [&](const std::vector<std::int64_t>& list) {
    return list[static_cast<std::size_t>(random.whole(0, static_cast<int>(list.size()) - 1))];
  };
  Case result{.m = one_of(rows), .n = one_of(columns), .k = one_of(depths)};
  result.transpose_a = transpose_a;
  result.transpose_b = transpose_b;
  result.beta = static_cast<float>(random.whole(0, 2)) * 0.5f;
  result.bias = random.whole(0, 1) == 1;
  result.pad = random.whole(0, 1) * random.whole(1, 5);
  if (result.m * result.n * result.k < 20000) result.batch = random.whole(1, 4);
  result.share_b = random.whole(0, 1) == 1;
  return result;
}

class ProductOn : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    if (!cpu::available(GetParam())) GTEST_SKIP() << "this machine has no such instructions";
  }
};

TEST_P(ProductOn, EveryExtentTurnStrideAndBetaIsTheDefinition) {
  test::Random random("products");
  for (const Transpose transpose_a : {Transpose::no, Transpose::yes})
    for (const Transpose transpose_b : {Transpose::no, Transpose::yes})
      for (int i = 0; i < 120; ++i) {
        const Case drawn = random_case(random, transpose_a, transpose_b);
        SCOPED_TRACE(drawn.text());
        const Problem problem(drawn);
        ASSERT_NO_FATAL_FAILURE(problem.expect_right(problem.run(GetParam(), 2)));
      }
}

TEST_P(ProductOn, LargeProductsInManyBlocksAreTheDefinition) {
  for (const Transpose transpose_a : {Transpose::no, Transpose::yes})
    for (const Transpose transpose_b : {Transpose::no, Transpose::yes})
      for (const auto& [m, n, k] :
           {std::array<std::int64_t, 3>{101, 1100, 70},
            std::array<std::int64_t, 3>{150, 40, 1300},
            std::array<std::int64_t, 3>{1, 5000, 600}, std::array<std::int64_t, 3>{2, 2100, 33},
            std::array<std::int64_t, 3>{1500, 2, 300}}) {
        const Problem problem({.m = m,
                               .n = n,
                               .k = k,
                               .transpose_a = transpose_a,
                               .transpose_b = transpose_b,
                               .beta = 1.0f,
                               .bias = true});
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
        ASSERT_NO_FATAL_FAILURE(problem.expect_right(problem.run(GetParam(), 3)));
      }
}

TEST_P(ProductOn, ThreadsChangeNoBit) {
  for (const Transpose transpose_a : {Transpose::no, Transpose::yes})
    for (const Transpose transpose_b : {Transpose::no, Transpose::yes})
      for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{200, 300, 700},
                                    std::array<std::int64_t, 3>{3, 4000, 600},
                                    std::array<std::int64_t, 3>{4000, 3, 600},
                                    std::array<std::int64_t, 3>{9, 2000, 600}}) {
        const Problem problem({.m = m,
                               .n = n,
                               .k = k,
                               .transpose_a = transpose_a,
                               .transpose_b = transpose_b,
                               .bias = true});
        const auto alone = problem.run(GetParam(), 1);
        for (const int threads : {2, 3, 16})
          ASSERT_EQ(alone, problem.run(GetParam(), threads))
              << m << " x " << n << " x " << k << " on " << threads;
      }
}

/// Beyond a handful of rows and columns, what the rest of the product is changes no bit.
TEST_P(ProductOn, RowsAndColumnsDoNotChangeEachOther) {
  const std::int64_t m = 70, n = 90, k = 1100;
  test::Random random("rows");
  const auto a = random.numbers<float>(static_cast<std::size_t>(m * k));
  const auto b = random.numbers<float>(static_cast<std::size_t>(n * k));
  for (const Transpose transpose_b : {Transpose::no, Transpose::yes}) {
    std::vector<float> all(static_cast<std::size_t>(m * n));
    Args<float> args{.m = m,
                     .n = n,
                     .k = k,
                     .a = a.data(),
                     .lda = k,
                     .b = b.data(),
                     .ldb = transpose_b == Transpose::yes ? k : n,
                     .transpose_b = transpose_b,
                     .c = all.data(),
                     .ldc = n};
    product_on(GetParam(), args, nullptr, 2);
    for (const std::int64_t rows : {9, 13, 30})
      for (const std::int64_t columns : {9, 17, 40}) {
        std::vector<float> some(all.size(), 0.0f);
        args.m = rows;
        args.n = columns;
        args.c = some.data();
        product_on(GetParam(), args, nullptr, 1);
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            ASSERT_EQ(some[static_cast<std::size_t>(i * n + j)],
                      all[static_cast<std::size_t>(i * n + j)])
                << rows << " x " << columns << " at " << i << ", " << j;
      }
  }
}

TEST_P(ProductOn, ANanStaysInItsRowAndColumn) {
  const std::int64_t m = 30, n = 40, k = 50;
  test::Random random("nan");
  auto a = random.numbers<float>(static_cast<std::size_t>(m * k));
  auto b = random.numbers<float>(static_cast<std::size_t>(n * k));
  a[7 * 50 + 3] = kNan;
  b[5 * 40 + 11] = std::numeric_limits<float>::infinity();
  std::vector<float> c(static_cast<std::size_t>(m * n));
  product_on(GetParam(),
             {.m = m,
              .n = n,
              .k = k,
              .a = a.data(),
              .lda = k,
              .b = b.data(),
              .ldb = n,
              .c = c.data(),
              .ldc = n},
             nullptr, 1);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const float x = c[static_cast<std::size_t>(i * n + j)];
      if (i == 7) {
        EXPECT_TRUE(x != x) << i << ", " << j;
      } else {
        EXPECT_EQ(j == 11, x - x != 0.0f) << i << ", " << j;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Sets, ProductOn, testing::ValuesIn(cpu::kBuiltTargets),
                         [](const auto& set) { return std::string(name_of(set.param)); });

}  // namespace
}  // namespace attn::gemm
