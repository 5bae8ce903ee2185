#include "attn/nn/mechanisms/regression/nadaraya_watson.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::nn {
namespace {

struct Gradients {
  std::vector<double> output;
  std::vector<double> keys;
  std::vector<double> width;
};

/// Of points around `where`, in a type.
Gradients around(double where, DType dtype) {
  Random random(3);
  // Thirty-seconds: exact in f32 wherever they are moved to.
  const auto near = [&](const Shape& shape) {
    std::vector<double> numbers;
    for (const double x : uniform(shape, -1.0, 1.0, random, DType::f64).to_vector<double>())
      numbers.push_back(where + std::round(32.0 * x) / 32.0);
    return Tensor::from(numbers, shape).to(dtype);
  };
  const Tensor q = near({2, 3, 2});
  Tensor k = near({2, 5, 2});
  const Tensor v = uniform({2, 5, 1}, -1.0, 1.0, random, DType::f64).to(dtype);
  Tensor width = Tensor::from(std::vector<double>{0.7, 1.9}, {2}).to(dtype);
  k.set_requires_grad();
  width.set_requires_grad();
  const Tensor output = nadaraya_watson(q, k, v, width).output;
  sum(output * output).backward();
  const auto numbers = [](const Tensor& x) { return x.to(DType::f64).to_vector<double>(); };
  return {numbers(output.detach()), numbers(k.grad()), numbers(width.grad())};
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], test::kFloat) << i;
}

TEST(NadarayaWatson, WhereZeroIsChangesNothing) {
  const Gradients want = around(0.0, DType::f64);
  for (const double where : {0.0, 100.0, 5000.0}) {
    const Gradients got = around(where, DType::f32);
    expect_near(got.output, want.output);
    expect_near(got.keys, want.keys);
    expect_near(got.width, want.width);
  }
}

TEST(NadarayaWatson, AQueryThatIsNotFiniteHarmsItselfAlone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor k = Tensor::from(std::vector<float>{0, 1, 2}, {1, 3, 1});
  const Tensor v = Tensor::from(std::vector<float>{3, 4, 5}, {1, 3, 1});
  const Tensor q = Tensor::from(std::vector<float>{nan, 1}, {1, 2, 1});
  EXPECT_NEAR(nadaraya_watson(q, k, v).output.to_vector<float>()[1], 4.0f, test::kFloat);
}

TEST(NadarayaWatson, KeysOrValuesOfEachQueryMixWithSharedOnes) {
  const Tensor q = Tensor::from(std::vector<float>{0.5f, 2.0f}, {2});
  const Tensor k = Tensor::from(std::vector<float>{0, 1, 2}, {3});
  const Tensor v = Tensor::from(std::vector<float>{3, -1, 5}, {3});
  const auto each = [](const Tensor& x) { return x.unsqueeze(0).expand({2, 3}).contiguous(); };
  const auto want = nadaraya_watson_scalar(q, k, v).output.to_vector<float>();
  EXPECT_EQ(nadaraya_watson_scalar(q, each(k), v).output.to_vector<float>(), want);
  EXPECT_EQ(nadaraya_watson_scalar(q, k, each(v)).output.to_vector<float>(), want);
  EXPECT_THROW(nadaraya_watson_scalar(q, k, v.slice(0, 0, 2)), InvalidArgument);
}

}  // namespace
}  // namespace attn::nn
