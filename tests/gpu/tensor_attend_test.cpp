// attend() on tensors of the GPU against the CPU's, and what is refused there.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

struct Sizes {
  std::int64_t batch, heads, kv_heads, queries, keys, channels, values;
};

Tensors draw(const Sizes& s, DType dtype) {
  return {random_tensor("q", {s.batch, s.heads, s.queries, s.channels}).to(dtype),
          random_tensor("k", {s.batch, s.kv_heads, s.keys, s.channels}).to(dtype),
          random_tensor("v", {s.batch, s.kv_heads, s.keys, s.values}).to(dtype)};
}

constexpr Sizes kSmall{2, 2, 2, 17, 23, 16, 16};

double attend_tolerance(DType dtype) {
  return gpu_tolerance(dtype, 200);
}

TEST(GpuAttend, AgreesWithTheCpuOverSizes) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const Sizes& s : {Sizes{1, 1, 1, 1, 1, 1, 1}, kSmall, Sizes{2, 4, 2, 33, 65, 64, 64},
                           Sizes{1, 3, 1, 70, 5, 40, 24}, Sizes{2, 1, 1, 5, 0, 8, 8},
                           Sizes{2, 2, 2, 0, 5, 8, 8}, Sizes{1, 2, 2, 130, 130, 128, 128}}) {
      const std::string what =
          named("attend of " + std::to_string(s.queries) + " x " + std::to_string(s.keys) +
                    " x " + std::to_string(s.channels),
                dtype);
      expect_same_on_gpu(
          what, draw(s, dtype),
          [](const Tensors& in) { return Tensors{attend(in[0], in[1], in[2]).output}; },
          attend_tolerance(dtype));
    }
  }
}

TEST(GpuAttend, TakesHeadsThatLieInsideAndNone) {
  SKIP_WITHOUT_GPU();
  const Tensor x = random_tensor("x", {2, 9, 4 * 16}).to(DType::f32);
  expect_same_on_gpu(
      "heads inside", {x},
      [](const Tensors& in) {
        const Tensor heads = in[0].reshape({2, 9, 4, 16}).transpose(1, 2);
        const Tensor out =
            attend(heads, heads, heads, spec::scaled_dot(), spec::causal()).output;
        return Tensors{out.transpose(1, 2).reshape({2, 9, 64}),
                       attend(in[0].slice(2, 0, 32), in[0].slice(2, 32, 64), in[0]).output};
      },
      attend_tolerance(DType::f32));
}

TEST(GpuAttend, MasksAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{23, 0}, {2});
  const Tensor flags = random_mask("flags", {2, 1, 17, 23});
  const std::vector<Mask> masks{
      spec::causal(),     spec::lengths(lengths), spec::causal() && spec::lengths(lengths),
      spec::window(4, 2), spec::prefix(5),        spec::dilated(3, 9)};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (std::size_t i = 0; i < masks.size(); ++i)
      expect_same_on_gpu(
          named("mask " + std::to_string(i), dtype), draw(kSmall, dtype),
          [&](const Tensors& in) {
            return Tensors{attend(in[0], in[1], in[2], spec::scaled_dot(), masks[i]).output};
          },
          attend_tolerance(dtype));
  }
  Tensors inputs = draw(kSmall, DType::f32);
  inputs.push_back(flags);
  expect_same_on_gpu(
      "dense", inputs,
      [](const Tensors& in) {
        return Tensors{
            attend(in[0], in[1], in[2], spec::scaled_dot(), spec::dense(in[3])).output};
      },
      attend_tolerance(DType::f32));
}

TEST(GpuAttend, ModifiersAndTheirTablesGetGradients) {
  SKIP_WITHOUT_GPU();
  Tensors inputs = draw(kSmall, DType::f32);
  inputs.push_back(random_tensor("bias", {2, 17, 23}).to(DType::f32));
  inputs.push_back(random_tensor("table", {2, 11}).to(DType::f32));
  inputs.push_back(random_tensor("t5", {8, 2}).to(DType::f32));
  inputs.push_back(random_tensor("sink", {2}).to(DType::f32));
  expect_same_on_gpu(
      "modifiers", inputs,
      [](const Tensors& in) {
        const auto run = [&](const spec::Score& score) {
          return attend(in[0], in[1], in[2], score).output;
        };
        return Tensors{
            run(spec::scaled_dot() | spec::soft_cap(2.0)),
            run(spec::scaled_dot() | spec::alibi()),
            run(spec::scaled_dot() | spec::bias(in[3])),
            run(spec::scaled_dot() | spec::relative_table(in[4])),
            run(spec::scaled_dot() | spec::t5_bias(in[5])),
            attend(in[0], in[1], in[2], spec::scaled_dot(), {}, spec::softmax_with_sink(in[6]))
                .output};
      },
      4 * attend_tolerance(DType::f32));
}

TEST(GpuAttend, LogSumExpIsDifferentiable) {
  SKIP_WITHOUT_GPU();
  expect_same_on_gpu(
      "log_sum_exp", draw(kSmall, DType::f32),
      [](const Tensors& in) {
        const Attended all = attend(in[0], in[1], in[2], spec::scaled_dot(), spec::causal(),
                                    spec::softmax(), Want::output | Want::log_sum_exp);
        return Tensors{all.output, all.log_sum_exp};
      },
      attend_tolerance(DType::f32));
}

TEST(GpuAttend, DropsWhatTheCpuDrops) {
  SKIP_WITHOUT_GPU();
  expect_same_on_gpu(
      "dropout", draw(kSmall, DType::f32),
      [](const Tensors& in) {
        return Tensors{attend(in[0], in[1], in[2], spec::scaled_dot(), {},
                              spec::softmax({.dropout = 0.3, .key = 17}))
                           .output};
      },
      attend_tolerance(DType::f32));
}

TEST(GpuAttend, AdditiveAgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  Tensors inputs = draw(kSmall, DType::f32);
  inputs.push_back(random_tensor("weight", {16}).to(DType::f32));
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{23, 7}, {2});
  expect_same_on_gpu(
      "additive", inputs,
      [&](const Tensors& in) {
        return Tensors{
            attend(in[0], in[1], in[2], spec::additive(in[3])).output,
            attend(in[0], in[1], in[2], spec::additive(in[3]), spec::lengths(lengths)).output};
      },
      4 * attend_tolerance(DType::f32));
}

TEST(GpuAttend, WeightsAndTheirGradientsAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const Want looks = Want::output | Want::weights | Want::column_sums | Want::arg_max;
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{23, 0}, {2});
  const Sizes grouped{2, 4, 2, 17, 23, 16, 24};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Tensors inputs = draw(grouped, dtype);
    inputs.push_back(random_tensor("bias", {4, 17, 23}).unsqueeze(0).to(DType::f32));
    inputs.push_back(random_tensor("weight", {16}).to(DType::f32));
    inputs.push_back(random_tensor("weights", {2, 16}).to(DType::f32));
    const std::vector<std::function<Attended(const Tensors&)>> calls{
        [&](const Tensors& in) {
          return attend(in[0], in[1], in[2], spec::scaled_dot(), spec::lengths(lengths),
                        spec::softmax(), looks);
        },
        [&](const Tensors& in) {
          return attend(in[0], in[1], in[2],
                        spec::dot(0.3) | spec::bias(in[3]) | spec::soft_cap(3.0),
                        spec::causal() && spec::lengths(lengths), spec::softmax(), looks);
        },
        [&](const Tensors& in) {
          return attend(in[0], in[1], in[2], spec::additive(in[4]), {},
                        spec::softmax({.dropout = 0.2, .key = 3}), looks);
        },
        [&](const Tensors& in) {
          return attend(in[0], in[1], in[2], spec::additive(in[5]), spec::lengths(lengths),
                        spec::softmax(), looks);
        }};
    for (std::size_t i = 0; i < calls.size(); ++i)
      expect_same_on_gpu(
          named("weights " + std::to_string(i), dtype), inputs,
          [&](const Tensors& in) {
            const Attended all = calls[i](in);
            return Tensors{all.output, all.weights, all.column_sums, all.arg_max};
          },
          4 * attend_tolerance(dtype));
  }
}

/// What the fused kernels lack goes by rows or by a matrix, in f32 and in f64.
using Call = std::function<Tensors(const Tensors&)>;
void expect_calls_agree(const std::string& what, const Tensors& inputs,
                        const std::vector<Call>& calls) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensors typed;
    for (const Tensor& x : inputs) typed.push_back(is_real(x) ? x.to(dtype) : x);
    for (std::size_t i = 0; i < calls.size(); ++i)
      expect_same_on_gpu(named(what + " " + std::to_string(i), dtype), typed, calls[i],
                         4 * attend_tolerance(dtype));
  }
}

TEST(GpuAttend, OtherSimilaritiesAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  Tensors inputs = draw(kSmall, DType::f32);
  inputs.push_back(random_tensor("width", {16}));
  inputs.push_back(random_tensor("scores", {2, 2, 17, 23}));
  inputs.push_back(random_tensor("weight", {2, 16}));
  const auto output = [](const Attended& all) { return Tensors{all.output}; };
  expect_calls_agree(
      "similarity", inputs,
      {[&](const Tensors& in) {
         return output(attend(in[0], in[1], in[2], spec::distance(in[3]), spec::causal()));
       },
       [&](const Tensors& in) {
         return output(attend(in[0], in[1], in[2], spec::cosine(3.0), spec::causal()));
       },
       [&](const Tensors& in) {
         return output(attend(in[0], in[1], in[2], spec::additive(in[5]), spec::window(3, 4)));
       },
       [&](const Tensors& in) {
         return output(attend(in[0].slice(3, 0, 1), in[1].slice(3, 0, 1), in[2], spec::sum()));
       },
       [&](const Tensors& in) {
         return output(attend({}, {}, in[2], spec::given(in[4]), spec::causal()));
       }});
}

TEST(GpuAttend, EveryNormaliserAgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{23, 0}, {2});
  const std::vector<spec::Normaliser> normalisers{
      spec::softmax(),        spec::identity(),    spec::mean(),         spec::sigmoid(),
      spec::summed_sigmoid(), spec::hard_argmax(), spec::hard_sample(7), spec::sparsemax()};
  std::vector<Call> calls;
  for (const spec::Normaliser& normaliser : normalisers)
    calls.push_back([&](const Tensors& in) {
      const Attended all = attend(in[0], in[1], in[2], spec::dot(0.4), spec::lengths(lengths),
                                  normaliser, Want::output | Want::weights);
      return Tensors{
          all.output, all.weights,
          attend(in[0], in[1], in[2], spec::dot(0.4), spec::causal(), normaliser).output};
    });
  expect_calls_agree("normaliser", draw(kSmall, DType::f32), calls);
}

/// Scores that are the weights: 0 where a mask or -inf leaves a pair out, without a gradient.
TEST(GpuAttend, ScoresThatAreLookedAtAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{23, 0}, {2});
  Tensors inputs = draw(kSmall, DType::f32);
  inputs.push_back(random_tensor("weight", {2, 16}));
  const Tensor scores = random_tensor("scores", {2, 2, 17, 23});
  inputs.push_back(keep_where(scores, random_mask("kept", scores.shape()), -INFINITY));
  const auto looked = [](const Attended& all) { return Tensors{all.weights, all.column_sums}; };
  const Want want = Want::weights | Want::column_sums;
  expect_calls_agree(
      "scores", inputs,
      {[&](const Tensors& in) {
         return looked(attend(in[0], in[1], {}, spec::dot(0.3) | spec::soft_cap(2.0),
                              spec::lengths(lengths), spec::identity(), want));
       },
       [&](const Tensors& in) {
         return looked(attend(in[0], in[1], {}, spec::additive(in[3]), spec::window(3, 4),
                              spec::identity(), want));
       },
       [&](const Tensors& in) {
         return looked(attend(in[0].slice(3, 0, 1), in[1].slice(3, 0, 1), {}, spec::sum(), {},
                              spec::identity(), want));
       },
       [&](const Tensors& in) {
         return looked(
             attend({}, {}, {}, spec::given(in[4]), spec::causal(), spec::identity(), want));
       }});
}

TEST(GpuAttend, WhatIsLookedAtAgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  Tensors inputs = draw({2, 4, 2, 17, 23, 16, 24}, DType::f32);
  inputs.push_back(random_tensor("gate", {4}));
  inputs.push_back(random_tensor("centre", {2, 17}));
  const Want looks = Want::output | Want::weights | Want::log_sum_exp | Want::column_sums |
                     Want::distance_sums(3) | Want::arg_max | Want::top(4);
  const auto all_of = [](const Attended& all) {
    return Tensors{all.output,        all.weights, all.log_sum_exp, all.column_sums,
                   all.distance_sums, all.arg_max, all.top_keys,    all.top_weights};
  };
  expect_calls_agree(
      "look", inputs,
      {[&](const Tensors& in) {
         return all_of(attend(in[0], in[1], in[2], spec::scaled_dot(), spec::causal(),
                              spec::softmax(), looks));
       },
       [&](const Tensors& in) {
         return all_of(attend(in[0], in[1], in[2], spec::dot(0.3) | spec::soft_cap(4.0),
                              spec::window(2, 1), spec::softmax() | spec::scale_weight(in[3]),
                              looks));
       },
       [&](const Tensors& in) {
         return all_of(attend(in[0], in[1], in[2], spec::scaled_dot(), {},
                              spec::softmax() | spec::local_gaussian(in[4] * 5.0, 3.0), looks));
       }});
}

/// 0 x NaN would be NaN: what no query may look at is not multiplied.
TEST(GpuAttend, WhatAMaskHidesMayBeNan) {
  SKIP_WITHOUT_GPU();
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{100, 37}, {2});
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    for (const std::int64_t size : {16, 64, 128}) {
      const Tensors inputs = draw({2, 2, 1, 90, 140, size, size}, dtype);
      Tensors spoilt = inputs;
      for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
        spoilt[i] = keep_where(inputs[i], length_mask(lengths, 140).reshape({2, 1, 140, 1}),
                               std::numeric_limits<double>::quiet_NaN());
      for (const Want& want : {Want::output, Want::output | Want::weights}) {
        const TensorFunction look = [&](const Tensors& in) {
          return Tensors{attend(in[0], in[1], in[2], spec::scaled_dot(), spec::lengths(lengths),
                                spec::softmax(), want)
                             .output};
        };
        const Ran clean = run_on(inputs, look, Device::gpu);
        const Ran got = run_on(spoilt, look, Device::gpu);
        const std::string what =
            named("NaN behind the lengths", dtype) + ", " + std::to_string(size) + " channels";
        // Rows that are made again are added up in another order.
        expect_close(got.results[0], clean.results[0], attend_tolerance(dtype), what);
        for (std::size_t i = 0; i < 3; ++i)
          expect_close(got.inputs[i].grad(), clean.inputs[i].grad(), attend_tolerance(dtype),
                       what + ", gradient " + std::to_string(i));
      }
    }
  }
}

TEST(GpuAttend, NanThatIsLookedAtStaysInItsRow) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    const Tensors inputs = draw({1, 1, 1, 70, 70, 64, 64}, DType::f32);
    auto* numbers = inputs[2].mutable_data<float>();
    numbers[40 * 64 + 3] = std::numeric_limits<float>::quiet_NaN();  // key 40, channel 3
    const Tensor out =
        attend(inputs[0].to(dtype).to(Device::gpu), inputs[1].to(dtype).to(Device::gpu),
               inputs[2].to(dtype).to(Device::gpu), spec::scaled_dot(), spec::causal())
            .output;
    const auto got = out.to(DType::f32).to_vector<float>();
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(std::isnan(got[i]), i / 64 >= 40 && i % 64 == 3)
          << named("query", dtype) << ' ' << i / 64 << ", channel " << i % 64;
  }
}

TEST(GpuAttend, MergedStatesAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{9, 0}, {2});
  std::vector<Call> calls{[&](const Tensors& in) {
    const auto part = [&](std::int64_t begin, std::int64_t end, const Mask& keep) {
      const Attended seen =
          attend(in[0], in[1].slice(2, begin, end), in[2].slice(2, begin, end),
                 spec::scaled_dot(), keep, spec::softmax(), Want::output | Want::log_sum_exp);
      return PartialAttention{seen.output, seen.log_sum_exp};
    };
    const PartialAttention both = merge_states(part(0, 10, spec::lengths(lengths)),
                                               part(10, 23, spec::causal_top_left()));
    return Tensors{both.output, both.log_sum_exp};
  }};
  expect_calls_agree("merged", draw(kSmall, DType::f32), calls);
}

TEST(GpuAttend, SaysWhatIsMissing) {
  SKIP_WITHOUT_GPU();
  Tensors on_gpu;
  for (const Tensor& x : draw(kSmall, DType::f32)) on_gpu.push_back(x.to(Device::gpu));
  const Tensor& q = on_gpu[0];
  const Tensor& k = on_gpu[1];
  const Tensor& v = on_gpu[2];
  EXPECT_THROW(attend(q, k, v.to(Device::cpu)), InvalidArgument);
  const Tensor flags = random_mask("flags", {17, 23});
  EXPECT_THROW(attend(q, k, v, spec::scaled_dot(), spec::dense(flags)), InvalidArgument);
}

}  // namespace
}  // namespace attn::test
