#include "attn/tensor/attend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tensor/support/gradcheck.hpp"
#include "tensor/support/naive_attention.hpp"

namespace attn::test {
namespace {

const Small kSize;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor scores_of(const Tensors& in) {
  return dot_products(in[0], in[1]) * 0.5;
}

TEST(Attend, IsScaledDotAndSoftmaxUnlessTold) {
  const Tensors in = kSize.inputs();
  const Attended got = attend(in[0], in[1], in[2]);
  expect_close(got.output, matmul(softmax(scores_of(in)), in[2]), 1e-12);
  EXPECT_FALSE(got.weights.defined());
  EXPECT_FALSE(got.log_sum_exp.defined());
  EXPECT_FALSE(got.arg_max.defined());
}

TEST(Attend, WithoutHeadsTheResultsHaveNone) {
  Tensors in = kSize.inputs();
  for (Tensor& x : in) x = x.select(1, 0).clone();
  const auto run = [](const Tensors& t) -> Tensors {
    const Attended got =
        attend(t[0], t[1], t[2], spec::scaled_dot(), spec::causal(), spec::softmax(),
               Want::output | Want::weights | Want::log_sum_exp | Want::column_sums |
                   Want::distance_sums(1) | Want::arg_max | Want::top(2));
    return {got.output,        got.weights, got.log_sum_exp, got.column_sums,
            got.distance_sums, got.arg_max, got.top_keys};
  };
  const Tensors got = run(in);
  EXPECT_EQ(got[0].text(), "f64[2, 3, 3]");
  EXPECT_EQ(got[1].text(), "f64[2, 3, 5]");
  EXPECT_EQ(got[2].text(), "f64[2, 3]");
  EXPECT_EQ(got[3].text(), "f64[2, 5]");
  EXPECT_EQ(got[4].text(), "f64[2, 3, 3]");
  EXPECT_EQ(got[5].text(), "i64[2, 3]");
  EXPECT_EQ(got[6].text(), "i64[2, 3, 2]");
  expect_close(got[0], matmul(got[1], in[2]), 1e-12);
  expect_gradients(run, in);
  expect_same_in_float(run, in);
}

TEST(Attend, GroupedHeadsShareKeysAndValues) {
  const Tensors in{random_tensor("q", {2, 6, 3, 4}), random_tensor("k", {2, 2, 5, 4}),
                   random_tensor("v", {2, 2, 5, 3}), random_tensor("w", {2, 4})};
  for (const bool additive : {false, true}) {
    const auto run = [additive](const Tensors& t) -> Tensors {
      return {
          attend(t[0], t[1], t[2], additive ? spec::additive(t[3]) : spec::dot(0.5)).output};
    };
    Tensors each;
    for (std::int64_t h = 0; h < 6; ++h) {
      const auto one = [&](int i) {
        const auto& x = in[static_cast<std::size_t>(i)];
        return i == 0 ? x.slice(1, h, h + 1) : x.slice(1, h / 3, h / 3 + 1);
      };
      each.push_back(attend(one(0), one(1), one(2),
                            additive ? spec::additive(in[3].select(0, h / 3)) : spec::dot(0.5))
                         .output);
    }
    expect_close(run(in)[0], concat(each, 1), 1e-12);
    expect_gradients(run, additive ? in : Tensors(in.begin(), in.begin() + 3));
    expect_same_in_float(run, additive ? in : Tensors(in.begin(), in.begin() + 3), 2e-5);
  }
}

TEST(Attend, WeightsAloneNeedNoValues) {
  const Tensors in = kSize.inputs();
  const auto run = [](const Tensors& t) -> Tensors {
    return {attend(t[0], t[1], {}, spec::scaled_dot(), spec::causal(), spec::softmax(),
                   Want::weights)
                .weights};
  };
  const Tensor keep = flag_pairs(kSize, [](auto, auto, auto i, auto j) { return j <= i + 2; });
  expect_close(run(in)[0], softmax(scores_of(in), -1, keep), 1e-12);
  expect_gradients(run, {in[0], in[1]});
  expect_same_in_float(run, {in[0], in[1]});
  // Values that nobody asked to pool get no gradient.
  Tensor v = in[2].clone().set_requires_grad();
  Tensor q = in[0].clone().set_requires_grad();
  const Tensor weights =
      attend(q, in[1], v, spec::scaled_dot(), {}, spec::softmax(), Want::weights).weights;
  weights.backward(random_tensor("seed", weights.shape()));
  EXPECT_FALSE(v.grad().defined());
  EXPECT_TRUE(q.grad().defined());
}

TEST(Attend, EveryResultOfWeightsIsDifferentiable) {
  const Tensors in = kSize.inputs();
  const Want each[] = {Want::weights, Want::log_sum_exp, Want::column_sums,
                       Want::distance_sums(1), Want::distance_sums(2, 0)};
  for (const Want& want : each) {
    for (const Want& with : {want, want | Want::output}) {
      const auto run = [&](const Tensors& t) -> Tensors {
        const Attended got = attend(t[0], t[1], t[2], spec::scaled_dot() | spec::soft_cap(2.0),
                                    spec::causal(), spec::softmax(), with);
        return {got.output, got.weights, got.log_sum_exp, got.column_sums, got.distance_sums};
      };
      expect_gradients(run, in);
      expect_same_in_float(run, in);
    }
  }
}

/// Two keys that differ in one channel share the weight, and their scores are large: in the
/// other channels the gradient is a difference of equals, which the rounding of the
/// log-sum-exp must not reach.
TEST(Attend, LargeScoresLeaveTheGradientsOfWeightsTheirDigits) {
  constexpr std::size_t kChannels = 16;
  std::vector<double> query(kChannels);
  std::vector<double> keys(4 * kChannels, -1.0);
  // Multiples of 1/16: scores are exact in f32.
  for (std::size_t c = 0; c < kChannels; ++c) {
    query[c] = 2.0 + 0.0625 * static_cast<double>(c);
    keys[kChannels + c] = 1.375;
    keys[2 * kChannels + c] = c == 0 ? 1.125 : 1.375;
  }
  const std::vector<double> upstream{70.0, 30.0, 50.0, 20.0};
  const auto gradient = [&](DType dtype) {
    const Tensor q = Tensor::from(query, {1, 1, 16}).to(dtype).set_requires_grad();
    const Tensor k = Tensor::from(keys, {1, 4, 16}).to(dtype);
    const Tensor weights =
        attend(q, k, {}, spec::dot(), {}, spec::softmax(), Want::weights).weights;
    sum(weights * Tensor::from(upstream, {1, 1, 4}).to(dtype)).backward();
    return q.grad().to(DType::f64).to_vector<double>();
  };
  const auto want = gradient(DType::f64);
  const auto got = gradient(DType::f32);
  for (std::size_t c = 0; c < want.size(); ++c)
    EXPECT_NEAR(got[c], want[c], test::kFloatSum) << c;
}

TEST(Attend, LookingAtTheWeightsLeavesEveryBitOfTheGradients) {
  const Tensors in{random_tensor("q", {2, 3, 1, 64}), random_tensor("k", {2, 3, 45, 64}),
                   random_tensor("v", {2, 3, 45, 16}), random_tensor("w", {3, 64})};
  for (const bool additive : {false, true}) {
    const auto gradients = [&](const Want& want) {
      Tensors x;
      for (const Tensor& from : in) x.push_back(from.to(DType::f32).set_requires_grad());
      const spec::Score score = additive ? spec::additive(x[3]) : spec::dot(0.5);
      sum(attend(x[0], x[1], x[2], score, {}, spec::softmax(), want).output).backward();
      return Tensors{x[0].grad(), x[1].grad(), x[2].grad()};
    };
    const Tensors alone = gradients(Want::output);
    const Tensors beside = gradients(Want::output | Want::weights | Want::column_sums);
    for (std::size_t i = 0; i < alone.size(); ++i)
      EXPECT_EQ(beside[i].to_vector<float>(), alone[i].to_vector<float>()) << i;
  }
}

TEST(Attend, SumsOfWeightsAreWhatTheirNamesSay) {
  const Tensors in = kSize.inputs();
  const Attended got = attend(in[0], in[1], {}, spec::scaled_dot(), {}, spec::softmax(),
                              Want::log_sum_exp | Want::column_sums | Want::distance_sums(1));
  const Tensor weights = softmax(scores_of(in));
  expect_close(got.log_sum_exp, log(sum(exp(scores_of(in)), -1)), 1e-12);
  expect_close(got.column_sums, sum(weights, 2), 1e-12);
  // Query i sits at i + 2: what lies before, at and after it.
  Tensor expected = Tensor::zeros({2, 2, 3, 3}, DType::f64);
  for (std::int64_t row = 0; row < 12; ++row)
    for (std::int64_t j = 0; j < 5; ++j) {
      const std::int64_t apart = std::clamp<std::int64_t>(j - (row % 3 + 2), -1, 1);
      expected.mutable_data<double>()[row * 3 + apart + 1] +=
          weights.data<double>()[row * 5 + j];
    }
  expect_close(got.distance_sums, expected, 1e-12);
}

TEST(Attend, TopAndArgMaxAgreeInFloatAndDouble) {
  const Tensors in = kSize.inputs();
  const Want want = Want::arg_max | Want::top(3);
  const auto run = [&](DType dtype) {
    return attend(in[0].to(dtype), in[1].to(dtype), {}, spec::scaled_dot(), spec::causal(-1),
                  spec::softmax(), want);
  };
  const Attended wide = run(DType::f64);
  const Attended narrow = run(DType::f32);
  EXPECT_EQ(wide.arg_max.to_vector<std::int64_t>(), narrow.arg_max.to_vector<std::int64_t>());
  EXPECT_EQ(wide.top_keys.to_vector<std::int64_t>(), narrow.top_keys.to_vector<std::int64_t>());
  expect_close(narrow.top_weights, wide.top_weights, 1e-5);
  EXPECT_EQ(wide.arg_max.data<std::int64_t>()[0], -1);  // the first query sees nothing
  EXPECT_EQ(wide.top_keys.data<std::int64_t>()[0], -1);
  EXPECT_EQ(wide.top_keys.data<std::int64_t>()[3], 0);
  EXPECT_EQ(wide.top_keys.data<std::int64_t>()[4], -1);
}

TEST(Attend, AQueryThatSeesNothingGetsZerosAndPassesNone) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    Tensors in = kSize.inputs();
    for (Tensor& x : in) x = x.to(dtype).set_requires_grad();
    Tensor bias = random_tensor("bias", {3, 5}, -1.0, 1.0, DType::f32).set_requires_grad();
    const Attended got =
        attend(in[0], in[1], in[2], spec::scaled_dot() | spec::bias(bias), !spec::all(),
               spec::softmax(), Want::output | Want::weights | Want::log_sum_exp);
    for (const Tensor& x : {got.output, got.weights})
      for (const double number : x.detach().to(DType::f64).to_vector<double>())
        EXPECT_EQ(number, 0.0);
    for (const double number : got.log_sum_exp.detach().to(DType::f64).to_vector<double>())
      EXPECT_EQ(number, -kInf);
    const Tensors outputs{got.output, got.weights, got.log_sum_exp};
    Tensors seeds;
    for (const Tensor& x : outputs) seeds.push_back(Tensor::full(x.shape(), 1.0, x.dtype()));
    backward(outputs, seeds);
    for (const Tensor& x : {in[0], in[1], in[2], bias})
      for (const double number : x.grad().to(DType::f64).to_vector<double>())
        EXPECT_EQ(number, 0.0);
  }
}

TEST(Attend, NanBehindAMaskStaysThere) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    Tensors in = kSize.inputs();
    Tensor bias = random_tensor("bias", {2, 2, 3, 5});
    for (std::int64_t i = 0; i < bias.numel(); ++i)
      if (i % 5 >= 3) bias.mutable_data<double>()[i] = i % 2 == 0 ? kNan : kInf;
    for (Tensor* x : {&in[1], &in[2]})
      for (std::int64_t row = 0; row < 20; ++row)
        for (std::int64_t c = 0; c < x->size(3); ++c)
          if (row % 5 >= 3) x->mutable_data<double>()[row * x->size(3) + c] = kNan;
    in.push_back(bias);
    for (Tensor& x : in) x = x.to(dtype).set_requires_grad();
    const Attended got =
        attend(in[0], in[1], in[2], spec::scaled_dot() | spec::bias(in[3]),
               spec::lengths(Tensor::from(std::vector<std::int64_t>{3, 3}, {2})),
               spec::softmax(), Want::output | Want::weights | Want::log_sum_exp);
    const Tensors outputs{got.output, got.weights, got.log_sum_exp};
    Tensors seeds;
    for (const Tensor& x : outputs)
      seeds.push_back(random_tensor("seed", x.shape(), -1.0, 1.0, x.dtype()));
    backward(outputs, seeds);
    for (const Tensor& x : {got.output.detach(), got.weights.detach(), in[0].grad(),
                            in[1].grad(), in[2].grad(), in[3].grad()})
      for (const double number : x.to(DType::f64).to_vector<double>())
        EXPECT_TRUE(std::isfinite(number));
  }
}

TEST(Attend, AnInfiniteBiasMasks) {
  Tensors in = kSize.inputs();
  Tensor bias = random_tensor("bias", {3, 5});
  for (const int place : {0, 1, 2, 3, 4, 7, 12}) bias.mutable_data<double>()[place] = -kInf;
  for (const DType dtype : {DType::f64, DType::f32}) {
    Tensors own;
    for (const Tensor& x : in) own.push_back(x.clone().to(dtype).set_requires_grad());
    Tensor table = bias.clone().to(dtype).set_requires_grad();
    const Attended got = attend(own[0], own[1], own[2], spec::scaled_dot() | spec::bias(table),
                                {}, spec::softmax(), Want::output | Want::weights);
    for (std::int64_t j = 0; j < 5; ++j)
      EXPECT_EQ(got.weights.detach().to(DType::f64).data<double>()[j], 0.0);
    got.output.backward(random_tensor("seed", got.output.shape(), -1.0, 1.0, dtype));
    for (const Tensor& x : {own[0], own[1], own[2], table})
      for (const double number : x.grad().to(DType::f64).to_vector<double>())
        EXPECT_TRUE(std::isfinite(number));
  }
}

TEST(Attend, TakesViewsAndGivesGradientsThatLieAsTheyDo) {
  // [batch, positions, heads, channels], as projections leave it.
  const Tensors in{random_tensor("q", {2, 3, 2, 4}), random_tensor("k", {2, 5, 2, 4}),
                   random_tensor("v", {2, 5, 2, 3})};
  const auto run = [](const Tensors& t) -> Tensors {
    return {attend(t[0].transpose(1, 2), t[1].transpose(1, 2), t[2].transpose(1, 2)).output};
  };
  Tensors packed;
  for (const Tensor& x : in) packed.push_back(x.transpose(1, 2).contiguous());
  expect_close(run(in)[0], attend(packed[0], packed[1], packed[2]).output, 1e-12);
  EXPECT_TRUE(run(in)[0].transpose(1, 2).is_contiguous());
  expect_gradients(run, in);
  expect_same_in_float(run, in);
  // Every other channel, and a gradient that is one number.
  const auto strided = [](const Tensors& t) -> Tensors {
    const Tensor k = t[1].reshape({2, 5, 2, 2, 2}).select(4, 1).transpose(1, 2);
    const Tensor q = t[0].reshape({2, 3, 2, 2, 2}).select(4, 0).transpose(1, 2);
    return {sum(attend(q, k, t[2].transpose(1, 2)).output)};
  };
  expect_gradients(strided, in);
  expect_same_in_float(strided, in);
}

TEST(Attend, HalfTypesComputeInFloat) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    Tensors narrow, wide;
    for (const Tensor& x : kSize.inputs()) {
      narrow.push_back(x.to(dtype).set_requires_grad());
      wide.push_back(narrow.back().detach().to(DType::f64).set_requires_grad());
    }
    const Want want = Want::output | Want::weights | Want::log_sum_exp;
    const Attended got = attend(narrow[0], narrow[1], narrow[2], spec::scaled_dot(),
                                spec::causal(), spec::softmax(), want);
    const Attended exact = attend(wide[0], wide[1], wide[2], spec::scaled_dot(), spec::causal(),
                                  spec::softmax(), want);
    EXPECT_EQ(got.output.dtype(), dtype);
    EXPECT_EQ(got.weights.dtype(), DType::f32);
    EXPECT_EQ(got.log_sum_exp.dtype(), DType::f32);
    expect_close(got.output, exact.output, tolerance(dtype, 5));
    expect_close(got.weights, exact.weights, 1e-5);
    expect_close(got.log_sum_exp, exact.log_sum_exp, 1e-5);
    const Tensor seed = random_tensor("seed", got.output.shape(), -1.0, 1.0, dtype);
    got.output.backward(seed);
    exact.output.backward(seed.to(DType::f64));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(narrow[i].grad().dtype(), dtype);
      expect_close(narrow[i].grad(), wide[i].grad(), gradient_tolerance(dtype, 5, 3));
    }
  }
}

TEST(Attend, ManyTilesAgreeWithTheReference) {
  // Few queries and many take different kernels; no values are a third way.
  for (const std::int64_t queries : {1, 3, 70}) {
    const Tensors in{random_tensor("q", {1, 4, queries, 9}), random_tensor("k", {1, 2, 333, 9}),
                     random_tensor("v", {1, 2, 333, 7}),
                     random_tensor("bias", {1, 4, queries, 333})};
    for (const bool given : {false, true}) {
      for (const Want& want : {Want::output | Want::log_sum_exp,
                               Want::weights | Want::column_sums, Want::log_sum_exp}) {
        const auto run = [&](const Tensors& t) -> Tensors {
          const Attended got = attend(
              given ? Tensor() : t[0], given ? Tensor() : t[1], t[2],
              given ? spec::given(t[3]) | spec::soft_cap(2.0) : spec::dot() | spec::bias(t[3]),
              spec::causal(), spec::softmax(), want);
          return {got.output, got.weights, got.log_sum_exp, got.column_sums};
        };
        expect_same_in_float(run, in, gradient_tolerance(DType::f32, 333, 70));
      }
    }
  }
}

TEST(Attend, ZeroExtentsWork) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto zeros = [&](const Shape& shape) {
      return Tensor::zeros(shape, dtype).set_requires_grad();
    };
    const Want want = Want::output | Want::weights | Want::log_sum_exp | Want::column_sums;
    const auto run = [&](const Shape& q, const Shape& k, const Shape& v) {
      Tensors in{zeros(q), zeros(k), zeros(v)};
      const Attended got =
          attend(in[0], in[1], in[2], spec::dot(), spec::causal(), spec::softmax(), want);
      const Tensors outputs{got.output, got.weights, got.log_sum_exp, got.column_sums};
      Tensors seeds;
      for (const Tensor& x : outputs) seeds.push_back(Tensor::full(x.shape(), 1.0, x.dtype()));
      backward(outputs, seeds);
      for (const Tensor& x : in)
        for (const double number : x.grad().to(DType::f64).to_vector<double>())
          EXPECT_EQ(number, 0.0);
      return got;
    };
    EXPECT_EQ(run({0, 2, 3, 4}, {0, 2, 5, 4}, {0, 2, 5, 3}).output.numel(), 0);
    EXPECT_EQ(run({1, 2, 0, 4}, {1, 2, 5, 4}, {1, 2, 5, 3}).output.numel(), 0);
    const Attended no_keys = run({1, 2, 3, 4}, {1, 2, 0, 4}, {1, 2, 0, 3});
    EXPECT_EQ(sum(abs(no_keys.output.detach())).item(), 0.0);
    EXPECT_EQ(no_keys.log_sum_exp.detach().select(0, 0).select(0, 0).select(0, 0).item(),
              -kInf);
    EXPECT_EQ(run({1, 2, 3, 0}, {1, 2, 5, 0}, {1, 2, 5, 0}).output.numel(), 0);
  }
}

TEST(Attend, NothingIsRecordedWithoutNeed) {
  Tensors in = kSize.inputs();
  EXPECT_FALSE(attend(in[0], in[1], in[2]).output.requires_grad());
  in[1].set_requires_grad();
  {
    const NoGrad off;
    EXPECT_FALSE(attend(in[0], in[1], in[2]).output.requires_grad());
  }
  const Attended got = attend(in[0], in[1], in[2], spec::scaled_dot(), {}, spec::softmax(),
                              Want::output | Want::top(1));
  EXPECT_TRUE(got.output.requires_grad());
  EXPECT_FALSE(got.top_weights.requires_grad());
  got.output.backward(random_tensor("seed", got.output.shape()));
  EXPECT_TRUE(in[1].grad().defined());
  EXPECT_FALSE(in[0].grad().defined());
}

TEST(Attend, ThreadsDoNotChangeTheBits) {
  const Tensors in{random_tensor("q", {2, 4, 70, 16}, -1, 1, DType::f32),
                   random_tensor("k", {2, 2, 130, 16}, -1, 1, DType::f32),
                   random_tensor("v", {2, 2, 130, 16}, -1, 1, DType::f32),
                   random_tensor("bias", {70, 130}, -1, 1, DType::f32)};
  const auto run = [&] {
    Tensors own;
    for (const Tensor& x : in) own.push_back(x.clone().set_requires_grad());
    const Attended got = attend(own[0], own[1], own[2], spec::scaled_dot() | spec::bias(own[3]),
                                spec::causal(), spec::softmax(), Want::output | Want::weights);
    backward(Tensors{got.output, got.weights},
             Tensors{random_tensor("a", got.output.shape(), -1, 1, DType::f32),
                     random_tensor("b", got.weights.shape(), -1, 1, DType::f32)});
    std::vector<std::vector<float>> bits{got.output.detach().to_vector<float>()};
    for (const Tensor& x : own) bits.push_back(x.grad().to_vector<float>());
    return bits;
  };
  // Inside a task of the pool everything runs on one thread.
  std::vector<std::vector<float>> alone;
  ThreadPool::shared().parallel_for(2, 2, [&](int task) {
    if (task == 0) alone = run();
  });
  EXPECT_TRUE(run() == alone);
}

TEST(Attend, MisuseSaysWhatIsWrong) {
  const Tensors in = kSize.inputs();
  const auto refuses = [](const auto& call, const char* words) {
    try {
      call();
      FAIL() << "nothing thrown; expected: " << words;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refuses([&] { attend({}, in[1], in[2]); }, "q is no tensor");
  refuses([&] { attend(in[0], {}, in[2]); }, "k is no tensor");
  refuses([&] { attend(in[0], in[1], {}); }, "without v");
  refuses([&] { attend(in[0].select(0, 0), in[1], in[2]); }, "heads in both or in neither");
  refuses([&] { attend(in[0].select(0, 0).select(0, 0), in[1], in[2]); }, "q is f64[3, 4]");
  refuses([&] { attend(in[0].to(DType::f32), in[1], in[2]); }, "differ in dtype");
  refuses([&] { attend(in[0], in[1].slice(3, 0, 3), in[2]); }, "the same channels");
  refuses([&] { attend(in[0], in[1], in[2].slice(2, 0, 4)); }, "v is f64[2, 2, 4, 3]");
  refuses([&] { attend(in[0].slice(1, 0, 1), in[1], in[2]); }, "1 heads and 2 kv heads");
  refuses(
      [&] {
        attend(in[0], in[1], in[2], spec::dot(), {}, spec::sigmoid(),
               Want::output | Want::log_sum_exp);
      },
      "log_sum_exp");
  refuses([] { Want::distance_sums(-1); }, "reach -1");
  refuses([] { Want::top(-1); }, "-1 weights");
  refuses([] { Want::top(1) | Want::top(2); }, "twice");
  refuses([&] { attend(Tensor::zeros({1, 1, 1}, DType::i64), in[1], in[2]); }, "q is i64");
}

}  // namespace
}  // namespace attn::test
