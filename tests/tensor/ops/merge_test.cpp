#include "attn/tensor/ops/merge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"

namespace attn::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensors merge(const Tensors& t) {
  const PartialAttention whole = merge_states({t[0], t[1]}, {t[2], t[3]});
  return {whole.output, whole.log_sum_exp};
}

TEST(MergeStates, TwoPartsOfTheKeysMakeTheWhole) {
  const Tensor q = random_tensor("q", {2, 2, 3, 4});
  const Tensor k = random_tensor("k", {2, 2, 7, 4});
  const Tensor v = random_tensor("v", {2, 2, 7, 3});
  const Want want = Want::output | Want::log_sum_exp;
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      // Causal as in the whole: query 0 sits at 4.
      const Attended got = attend(q.to(dtype), k.slice(2, begin, end).to(dtype),
                                  v.slice(2, begin, end).to(dtype), spec::scaled_dot(),
                                  spec::causal(4 - begin), spec::softmax(), want);
      return PartialAttention{got.output, got.log_sum_exp};
    };
    const double within = dtype == DType::f64 ? 1e-12 : dtype == DType::f32 ? 1e-6 : 1e-2;
    const PartialAttention whole = part(0, 7);
    for (const std::int64_t split : {0, 1, 5, 6, 7}) {
      const PartialAttention joined = merge_states(part(0, split), part(split, 7));
      EXPECT_EQ(joined.output.dtype(), dtype);
      expect_close(joined.output, whole.output, within);
      expect_close(joined.log_sum_exp, whole.log_sum_exp, within);
    }
  }
}

TEST(MergeStates, GradientsReachAllFour) {
  const Tensors in{random_tensor("oa", {2, 3, 4}), random_tensor("la", {2, 3}, -3.0, 3.0),
                   random_tensor("ob", {2, 3, 4}), random_tensor("lb", {2, 3}, -3.0, 3.0)};
  expect_gradients(merge, in);
  expect_same_in_float(merge, in);
  for (const int alone : {0, 1})
    expect_gradients(
        [alone](const Tensors& t) -> Tensors {
          return {merge(t)[static_cast<std::size_t>(alone)]};
        },
        in);
}

TEST(MergeStates, LargeNumbersDoNotOverflow) {
  const Tensor one = Tensor::full({1, 1}, 1.0, DType::f64);
  const Tensor row = Tensor::full({1}, 5000.0, DType::f64);
  const Tensors got = merge({one, row, one, row});
  EXPECT_NEAR(got[1].item(), 5000.0 + std::log(2.0), test::kDoubleSum);
  EXPECT_NEAR(got[0].item(), 1.0, test::kDoubleSum);
}

TEST(MergeStates, AnEmptyPartChangesNothingAndIsNotRead) {
  for (const bool first : {true, false}) {
    Tensor full_out = random_tensor("o", {1, 3}).set_requires_grad();
    Tensor full_lse = random_tensor("l", {1}).set_requires_grad();
    Tensor empty_out = Tensor::full({1, 3}, kNan, DType::f64).set_requires_grad();
    Tensor empty_lse = Tensor::full({1}, -kInf, DType::f64).set_requires_grad();
    const Tensors got = first ? merge({empty_out, empty_lse, full_out, full_lse})
                              : merge({full_out, full_lse, empty_out, empty_lse});
    expect_close(got[0], full_out, 0.0);
    expect_close(got[1], full_lse, 0.0);
    const Tensors seeds{Tensor::full({1, 3}, 2.0, DType::f64),
                        Tensor::full({1}, 3.0, DType::f64)};
    backward(got, seeds);
    expect_close(full_out.grad(), seeds[0], 0.0);
    expect_close(full_lse.grad(), seeds[1], 0.0);
    expect_close(empty_out.grad(), Tensor::zeros({1, 3}, DType::f64), 0.0);
    expect_close(empty_lse.grad(), Tensor::zeros({1}, DType::f64), 0.0);
  }
}

TEST(MergeStates, TwoEmptyPartsGiveZerosAndNoGradient) {
  Tensor out = Tensor::full({2, 3}, kNan, DType::f32).set_requires_grad();
  Tensor lse = Tensor::full({2}, -kInf, DType::f32).set_requires_grad();
  const Tensors got = merge({out, lse, out, lse});
  for (const float x : got[0].detach().to_vector<float>()) EXPECT_EQ(x, 0.0f);
  for (const float x : got[1].detach().to_vector<float>()) EXPECT_EQ(x, -kInf);
  backward(got, Tensors{Tensor::full({2, 3}, 1.0), Tensor::full({2}, 1.0)});
  for (const float x : out.grad().to_vector<float>()) EXPECT_EQ(x, 0.0f);
  for (const float x : lse.grad().to_vector<float>()) EXPECT_EQ(x, 0.0f);
}

TEST(MergeStates, ZeroExtentsAndBadShapes) {
  const auto zeros = [](const Shape& shape) { return Tensor::zeros(shape); };
  EXPECT_EQ(merge({zeros({0, 3}), zeros({0}), zeros({0, 3}), zeros({0})})[0].numel(), 0);
  EXPECT_EQ(merge({zeros({2, 0}), zeros({2}), zeros({2, 0}), zeros({2})})[1].numel(), 2);
  EXPECT_THROW(merge({zeros({2, 3}), zeros({3}), zeros({2, 3}), zeros({2})}), InvalidArgument);
  EXPECT_THROW(merge({zeros({2, 3}), zeros({2}), zeros({3, 3}), zeros({3})}), InvalidArgument);
  EXPECT_THROW(merge({zeros({2, 3}), zeros({2}).to(DType::f64), zeros({2, 3}), zeros({2})}),
               InvalidArgument);
}

}  // namespace
}  // namespace attn::test
