#include "attn/tensor/tape.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {
namespace {

Tensor leaf(const std::vector<float>& values) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())}).set_requires_grad();
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Tape, GradientsOfSharedInputsAddUp) {
  Tensor x = leaf({2.0f, -3.0f});
  sum(x * x + x).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{5.0f, -5.0f}));
}

TEST(Tape, BackwardAddsToWhatIsThere) {
  Tensor x = leaf({1.0f});
  sum(x * 3.0).backward();
  sum(x * 4.0).backward();
  EXPECT_EQ(x.grad().item(), 7.0);
  x.zero_grad();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Tape, LeavesNeverShareTheirGradients) {
  Tensor a = leaf({1.0f});
  Tensor b = leaf({2.0f});
  sum(a + b).backward();
  a.grad().fill(9.0);
  EXPECT_EQ(b.grad().item(), 1.0);
}

TEST(Tape, SeveralOutputsGoBackAtOnce) {
  Tensor x = leaf({3.0f});
  const Tensor shared = x * x;
  const std::vector<Tensor> outputs{shared * 2.0, shared * 5.0};
  const std::vector<Tensor> seeds{Tensor::full({1}, 1.0), Tensor::full({1}, 10.0)};
  backward(outputs, seeds);
  EXPECT_EQ(x.grad().item(), 6.0 * (2.0 + 50.0));
}

TEST(Tape, NothingIsRecordedUnderNoGrad) {
  Tensor x = leaf({1.0f});
  const NoGrad off;
  EXPECT_FALSE((x * 2.0).requires_grad());
}

TEST(Tape, MisuseIsAnErrorThatHelps) {
  Tensor x = leaf({1.0f, 2.0f});
  const Tensor y = Tensor::full({2}, 1.0);
  EXPECT_NE(message_of([&] { y.backward(); }).find("no graph"), std::string::npos);
  EXPECT_NE(message_of([&] { (x * 2.0).backward(); }).find("without a seed"),
            std::string::npos);
  EXPECT_NE(message_of([&] { (x * 2.0).backward(Tensor::full({3}, 1.0)); }).find("[2]"),
            std::string::npos);
  const Tensor loss = sum(x * x);
  loss.backward();
  EXPECT_NE(message_of([&] { loss.backward(); }).find("released"), std::string::npos);
  EXPECT_NE(message_of([&] { x.fill(0.0); }).find("requires a gradient"), std::string::npos);
  EXPECT_NE(message_of([&] { (x * 2.0).set_requires_grad(); }).find("a leaf"),
            std::string::npos);
  EXPECT_NE(message_of([] { Tensor::arange(3).set_requires_grad(); }).find("real"),
            std::string::npos);
}

TEST(Tape, AWriteToSomethingSavedIsNoticed) {
  Tensor x = leaf({1.0f, 2.0f});
  Tensor factor = Tensor::full({2}, 3.0);
  const Tensor loss = sum(x * factor);
  factor.fill(4.0);
  EXPECT_NE(message_of([&] { loss.backward(); }).find("written in place"), std::string::npos);
}

TEST(Tape, LongChainsNeedNoStack) {
  Tensor x = leaf({1.0f});
  Tensor y = x;
  for (int i = 0; i < 200'000; ++i) y = y + 0.0;
  sum(y).backward();
  EXPECT_EQ(x.grad().item(), 1.0);
  Tensor unused = x;
  for (int i = 0; i < 200'000; ++i) unused = unused + 0.0;
}

TEST(Tape, TenThousandStepsKeepNoMemory) {
  Tensor weight = Tensor::full({8, 8}, 0.1).set_requires_grad();
  const Tensor x = Tensor::full({4, 8}, 1.0);
  std::size_t after_first = 0;
  for (int step = 0; step < 10'000; ++step) {
    const Tensor loss = mean(square(tanh(linear(x, weight))));
    loss.backward();
    {
      const NoGrad off;
      weight.copy_from(weight - weight.grad() * 0.01);
      weight.zero_grad();
    }
    if (step == 10) after_first = memory_use().live + memory_use().cached;
  }
  EXPECT_EQ(memory_use().live + memory_use().cached, after_first);
}

}  // namespace
}  // namespace attn
