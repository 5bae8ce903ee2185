// Attention on the GPU against the definition in double: random problems of every stage the
// GPU serves, the common recipes over awkward sizes, and laws.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/mask/sliding_window.hpp"
#include "attn/normalise/sparsemax.hpp"
#include "gpu/run_gpu.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"
#include "support/random.hpp"

namespace attn::test {
namespace {

#define SKIP_WITHOUT_GPU() \
  if (!gpu::available()) GTEST_SKIP() << "no GPU: " << gpu::describe()

/// The types and head sizes of this build.
struct Built {
  DType dtype;
  int size;
};
std::vector<Built> built() {
  std::vector<Built> list;
#define ATTN_GPU_INSTANCE(Type, kDim) list.push_back({kDType<Type>, kDim});
#include "attn_gpu_instances.inc"
#undef ATTN_GPU_INSTANCE
  return list;
}

std::string agrees(const Problem& problem) {
  return gpu_difference(problem, run_gpu(problem), run_reference(problem));
}

bool fits(const MaskSpec& node, int& parts) {
  ++parts;
  for (const MaskSpec& child : node.children) fits(child, parts);
  return parts <= 12;
}

/// Turns what the GPU does not serve into something it does.
void make_served(Spec& spec) {
  spec.similarity = Similarity::dot;
  spec.d_weights = false;
  spec.keep = false;
  if (spec.normaliser > NormaliserKind::summed_sigmoid) spec.normaliser = NormaliserKind::sink;
  spec.d_stat = spec.d_stat && spec.has_lse();
  for (FactorSpec& factor : spec.factors)
    if (factor.kind == FactorKind::program) factor.kind = FactorKind::scale_weight;
  int parts = 0;
  for (const MaskSpec& mask : spec.masks) fits(mask, parts);
  if (parts > 12) spec.masks.resize(1);
  const auto list = built();
  const int size = std::max(spec.channels, spec.value_channels);
  const bool has = std::any_of(list.begin(), list.end(), [&](const Built& b) {
    return b.dtype == spec.dtype && size <= b.size;
  });
  if (!has) spec.dtype = list.front().dtype;
}

TEST(GpuAttention, AgreesWithTheDefinitionOnRandomProblems) {
  SKIP_WITHOUT_GPU();
  check_property("gpu mixed", 160, Size::mixed, agrees, make_served);
}

TEST(GpuAttention, AgreesWithTheDefinitionOnRandom16BitProblems) {
  SKIP_WITHOUT_GPU();
  check_property("gpu half", 120, Size::mixed, agrees, [](Spec& spec) {
    make_served(spec);
    spec.dtype = DType::bf16;
  });
}

/// Every built type and head size: channels at and just below it, tiles cut off at odd places.
TEST(GpuAttention, AgreesOnEveryBuiltHeadSize) {
  SKIP_WITHOUT_GPU();
  for (const auto& [dtype, size] : built()) {
    for (const int less : {0, 3}) {
      Spec spec;
      spec.seed = "head size " + std::to_string(size - less);
      spec.dtype = dtype;
      spec.group = 2;
      spec.queries = 145;
      spec.keys = 203;
      spec.channels = size - less;
      spec.value_channels = size - 2 * less;
      spec.masks = {MaskSpec{MaskTree::Kind::leaf, MaskKind::causal, {}}};
      spec.scores = {{ScoreKind::learned_scale, Sharing::per_head}};
      check_spec(spec, agrees);
      spec.scores.clear();
      check_spec(spec, agrees);
      spec.masks.clear();
      check_spec(spec, agrees);
    }
  }
}

/// The recipes with kernels of their own.
TEST(GpuAttention, CommonRecipesAgreeOverAwkwardSizes) {
  SKIP_WITHOUT_GPU();
  struct Pair {
    int queries, keys;
  };
  for (const auto& [dtype, size] : built()) {
    if (dtype == DType::f32 || (size != 64 && size != 128)) continue;
    for (const auto& [queries, keys] :
         {Pair{1, 1}, {1, 300}, {64, 64}, {129, 130}, {257, 70}, {450, 610}}) {
      for (const auto mask :
           {MaskKind::none, MaskKind::causal, MaskKind::window, MaskKind::lengths}) {
        for (const int score : {-1, 2, 3, 4, 6}) {  // none, soft cap, ALiBi, relative, Gaussian
          Spec spec;
          spec.seed = "common";
          spec.batch = 2;
          spec.kv_heads = 1;
          spec.group = 2;
          spec.dtype = dtype;
          spec.queries = queries;
          spec.keys = keys;
          spec.channels = size;
          spec.value_channels = size;
          spec.masks = {MaskSpec{MaskTree::Kind::leaf, mask, {}}};
          if (mask == MaskKind::lengths && queries % 2 == 0)
            spec.masks.push_back(MaskSpec{MaskTree::Kind::leaf, MaskKind::causal, {}});
          if (score >= 0) {
            const auto kind = static_cast<ScoreKind>(score);
            spec.scores = {
                {kind, kind == ScoreKind::gaussian ? Sharing::dense : Sharing::per_head}};
          }
          check_spec(spec, agrees);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(GpuAttention, EmptyRowsGiveZeroAndFiniteGradients) {
  SKIP_WITHOUT_GPU();
  for (const auto& [dtype, size] : built()) {
    Spec spec;
    spec.seed = "empty rows";
    spec.dtype = dtype;
    spec.queries = 90;
    spec.keys = 20;  // bottom-right causal: the first 70 queries see nothing
    spec.channels = size;
    spec.value_channels = size;
    spec.masks = {MaskSpec{MaskTree::Kind::leaf, MaskKind::causal, {}}};
    const Problem problem(spec);
    const Results got = run_gpu(problem);
    for (std::size_t i = 0; i < static_cast<std::size_t>(70 * size); ++i) {
      ASSERT_EQ(got.out[i], 0.0);
      ASSERT_EQ(got.dq[i], 0.0);
    }
    for (const auto* list : {&got.out, &got.dq, &got.dk, &got.dv})
      for (const double x : *list) ASSERT_TRUE(std::isfinite(x));
  }
}

/// A problem of 150 keys, of which the last 50 are hidden.
Spec padded_spec(DType dtype, int size) {
  Spec spec;
  spec.seed = "padding";
  spec.dtype = dtype;
  spec.queries = 70;
  spec.keys = 150;
  spec.channels = size;
  spec.value_channels = size;
  return spec;
}

TEST(GpuAttention, HiddenKeysChangeNothing) {
  SKIP_WITHOUT_GPU();
  for (const auto& [dtype, size] : built()) {
    const Spec spec = padded_spec(dtype, size);
    Problem problem(spec);
    auto& lengths = problem.numbers.emplace_back(1, 100);
    problem.recipe.masks.push_back(MaskTree::of(mask_stage(mask::Lengths{lengths.data()})));
    const Results first = run_gpu(problem);
    const auto kept = static_cast<std::size_t>(100 * size);
    std::fill(problem.k.begin() + 100 * size, problem.k.end(), 1000.0);
    std::fill(problem.v.begin() + 100 * size, problem.v.end(), -3000.0);
    const Results second = run_gpu(problem);
    ASSERT_EQ(first.out, second.out);
    ASSERT_EQ(first.stat, second.stat);
    for (std::size_t i = 0; i < kept; ++i) {
      ASSERT_EQ(first.dk[i], second.dk[i]);
      ASSERT_EQ(first.dv[i], second.dv[i]);
    }
    for (std::size_t i = kept; i < second.dk.size(); ++i) {
      ASSERT_EQ(second.dk[i], 0.0);
      ASSERT_EQ(second.dv[i], 0.0);
    }
  }
}

TEST(GpuAttention, HiddenKeysMayBeNan) {
  SKIP_WITHOUT_GPU();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [dtype, size] : built()) {
    {
      Problem problem(padded_spec(dtype, size));
      auto& lengths = problem.numbers.emplace_back(1, 100);
      problem.recipe.masks.push_back(MaskTree::of(mask_stage(mask::Lengths{lengths.data()})));
      std::fill(problem.k.begin() + 100 * size, problem.k.end(), nan);
      std::fill(problem.v.begin() + 100 * size, problem.v.end(), nan);
      EXPECT_EQ(agrees(problem), "");
    }
    {
      Problem problem(padded_spec(dtype, size));
      // Query i sees keys i + 40 to i + 80.
      problem.recipe.masks.push_back(MaskTree::of(mask_stage(mask::SlidingWindow{40, 0, 80})));
      std::fill(problem.k.begin(), problem.k.begin() + 40 * size, nan);
      std::fill(problem.v.begin(), problem.v.begin() + 40 * size, nan);
      EXPECT_EQ(agrees(problem), "");
    }
  }
}

TEST(GpuAttention, TheOrderOfKeysDoesNotMatter) {
  SKIP_WITHOUT_GPU();
  for (const auto& [dtype, size] : built()) {
    Problem problem(padded_spec(dtype, size));
    const Results want = run_reference(problem);
    Random random("order of keys");
    std::vector<int> order(150);
    for (int j = 0; j < 150; ++j) order[static_cast<std::size_t>(j)] = j;
    random.shuffle(order);
    const auto reorder = [&](std::vector<double> list) {
      std::vector<double> result;
      for (const int j : order)
        result.insert(result.end(), list.begin() + j * size, list.begin() + (j + 1) * size);
      return result;
    };
    problem.k = reorder(problem.k);
    problem.v = reorder(problem.v);
    Results shuffled = want;
    shuffled.dk = reorder(want.dk);
    shuffled.dv = reorder(want.dv);
    EXPECT_EQ(gpu_difference(problem, run_gpu(problem), shuffled), "");
  }
}

TEST(GpuAttention, RepeatableGradientsAreTheSameBitsEachTime) {
  SKIP_WITHOUT_GPU();
  for (const auto& [dtype, size] : built()) {
    Spec spec;
    spec.seed = "same bits";
    spec.dtype = dtype;
    spec.kv_heads = 2;
    spec.group = 2;
    spec.queries = 100;
    spec.keys = 500;
    spec.channels = spec.value_channels = size;
    const Problem problem(spec);
    const Results first = run_gpu(problem, gpu::Determinism::repeatable);
    EXPECT_EQ(gpu_difference(problem, first, run_reference(problem)), "");
    for (int again = 0; again < 3; ++again)
      ASSERT_EQ(first, run_gpu(problem, gpu::Determinism::repeatable));
  }
}

TEST(GpuAttention, WhatIsNotServedThrowsUnsupported) {
  SKIP_WITHOUT_GPU();
  Spec spec;
  spec.dtype = DType::bf16;
  {
    Problem problem(spec);
    problem.recipe.normaliser = normaliser_stage(normalise::Sparsemax{});
    EXPECT_THROW(run_gpu(problem), Unsupported);
  }
  {
    Problem problem(spec);
    problem.recipe.similarity = Similarity::cosine;
    EXPECT_THROW(run_gpu(problem), Unsupported);
  }
  {
    spec.channels = 300;
    const Problem problem(spec);
    EXPECT_THROW(run_gpu(problem), Unsupported);
  }
}

}  // namespace
}  // namespace attn::test
