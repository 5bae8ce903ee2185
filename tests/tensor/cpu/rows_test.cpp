// Row-wise functions of every instruction set against the same in double.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/kernels/target.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "tensor/cpu/rows_table.hpp"

namespace attn::cpu {
namespace {

/// The tables of all instruction sets that this machine can run.
std::vector<const RowTable<float>*> tables() {
  std::vector<const RowTable<float>*> result;
  for (const Target target : kBuiltTargets)
    if (available(target)) result.push_back(&isa_table<RowTable<float>>(target));
  return result;
}

/// Odd lengths around those of all vectors, and one of several chunks.
const std::vector<std::int64_t> kLengths{1,  2,  3,  4,  7,  8,   9,   15,
                                         16, 17, 31, 64, 67, 130, 4101};

/// Rows in both types, with room behind them that nobody may touch.
struct Row {
  static constexpr float kGuard = 77.0f;

  Row(test::Random& random, std::int64_t count, double low = -3.0, double high = 3.0)
      : floats(random.numbers<float>(static_cast<std::size_t>(count), low, high)),
        doubles(floats.begin(), floats.end()) {
    floats.resize(floats.size() + 32, kGuard);
  }
  /// Results, to be written.
  explicit Row(std::int64_t count)
      : floats(static_cast<std::size_t>(count + 32), kGuard),
        doubles(static_cast<std::size_t>(count)) {}

  void expect_same(const std::string& what) const {
    const double within = test::tolerance(DType::f32, static_cast<int>(doubles.size()));
    for (std::size_t i = 0; i < doubles.size(); ++i)
      ASSERT_TRUE(test::close(double{floats[i]}, doubles[i], within))
          << what << ", place " << i;
    for (std::size_t i = doubles.size(); i < floats.size(); ++i)
      ASSERT_EQ(floats[i], kGuard) << what << " wrote behind the row, place " << i;
  }

  std::vector<float> floats;
  std::vector<double> doubles;
};

void for_each_case(
    const std::function<void(const RowTable<float>&, std::int64_t, const std::string&)>& run) {
  int number = 0;
  for (const RowTable<float>* table : tables()) {
    for (const std::int64_t count : kLengths)
      run(*table, count,
          "table " + std::to_string(number) + ", length " + std::to_string(count));
    ++number;
  }
}

TEST(Rows, SoftmaxIsThatOfDoubles) {
  test::Random random("rows");
  const RowTable<double>& plain = row_table<double>();
  for_each_case([&](const RowTable<float>& table, std::int64_t count, const std::string& what) {
    const Row x(random, count, -20.0, 20.0);
    const Row grad(random, count);
    // A vector of bool has no bytes.
    const auto keep = std::make_unique<bool[]>(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
      keep[static_cast<std::size_t>(i)] = random.whole(0, 2) > 0;
    for (const bool* mask :
         {static_cast<const bool*>(nullptr), static_cast<const bool*>(keep.get())}) {
      Row y(count);
      Row dx(count);
      table.softmax(count, x.floats.data(), mask, y.floats.data());
      plain.softmax(count, x.doubles.data(), mask, y.doubles.data());
      y.expect_same(what + ", softmax");
      table.softmax_backward(count, y.floats.data(), grad.floats.data(), dx.floats.data());
      plain.softmax_backward(count, y.doubles.data(), grad.doubles.data(), dx.doubles.data());
      dx.expect_same(what + ", gradient of softmax");
    }
  });
}

TEST(Rows, LogSoftmaxIsThatOfDoubles) {
  test::Random random("rows");
  const RowTable<double>& plain = row_table<double>();
  for_each_case([&](const RowTable<float>& table, std::int64_t count, const std::string& what) {
    const Row x(random, count, -20.0, 20.0);
    const Row grad(random, count);
    Row y(count);
    Row dx(count);
    table.log_softmax(count, x.floats.data(), y.floats.data());
    plain.log_softmax(count, x.doubles.data(), y.doubles.data());
    y.expect_same(what + ", log_softmax");
    table.log_softmax_backward(count, y.floats.data(), grad.floats.data(), dx.floats.data());
    plain.log_softmax_backward(count, y.doubles.data(), grad.doubles.data(), dx.doubles.data());
    dx.expect_same(what + ", gradient of log_softmax");
  });
}

TEST(Rows, LayerNormIsThatOfDoubles) {
  test::Random random("rows");
  const RowTable<double>& plain = row_table<double>();
  for_each_case([&](const RowTable<float>& table, std::int64_t count, const std::string& what) {
    const Row x(random, count);
    const Row grad(random, count);
    const Row weight(random, count);
    const Row bias(random, count);
    Row y(count);
    Row dx(count);
    Row d_weight(random, count);
    Row d_bias(random, count);
    const auto moments = table.layer_norm(count, x.floats.data(), weight.floats.data(),
                                          bias.floats.data(), 0.1f, y.floats.data());
    const auto want = plain.layer_norm(count, x.doubles.data(), weight.doubles.data(),
                                       bias.doubles.data(), double{0.1f}, y.doubles.data());
    y.expect_same(what + ", layer_norm");
    table.layer_norm_backward(
        {count, weight.floats.data(), d_weight.floats.data(), d_bias.floats.data()},
        x.floats.data(), grad.floats.data(), moments, dx.floats.data());
    plain.layer_norm_backward(
        {count, weight.doubles.data(), d_weight.doubles.data(), d_bias.doubles.data()},
        x.doubles.data(), grad.doubles.data(), want, dx.doubles.data());
    dx.expect_same(what + ", gradient of layer_norm");
    d_weight.expect_same(what + ", gradient of the weight");
    d_bias.expect_same(what + ", gradient of the bias");
  });
}

TEST(Rows, CrossEntropyIsThatOfDoubles) {
  test::Random random("rows");
  const RowTable<double>& plain = row_table<double>();
  for_each_case([&](const RowTable<float>& table, std::int64_t count, const std::string& what) {
    const Row x(random, count, -20.0, 20.0);
    Row dx(count);
    const RowSum<float> got = table.exp_sum(count, x.floats.data());
    const RowSum<double> want = plain.exp_sum(count, x.doubles.data());
    const double within = test::tolerance(DType::f32, static_cast<int>(count));
    EXPECT_EQ(double{got.max}, want.max) << what;
    EXPECT_TRUE(test::close(double{got.sum}, want.sum, within)) << what;
    EXPECT_NEAR(double{got.total}, want.total,
                20.0 * within * std::sqrt(static_cast<double>(count)))
        << what;
    table.cross_entropy_backward(count, x.floats.data(), got.max, 2.0f / got.sum, 0.25f,
                                 dx.floats.data());
    plain.cross_entropy_backward(count, x.doubles.data(), want.max, 2.0 / want.sum, 0.25,
                                 dx.doubles.data());
    dx.expect_same(what + ", gradient of cross-entropy");
  });
}

}  // namespace
}  // namespace attn::cpu
