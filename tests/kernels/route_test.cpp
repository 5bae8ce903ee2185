// Which kernels a call takes: the table, its boundaries, and that what is said is what runs.

#include "attn/kernels/route.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "attn/core/concepts.hpp"
#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/score/lambda.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

/// A functor that the library does not have.
struct Halve {
  template <class V>
  ATTN_FN V forward(V s, Site<V>) const {
    return s * V(0.5f);
  }
};

MaskTree leaf(const AnyMask& mask) {
  return MaskTree::of(mask);
}

Call on_cpu(std::int64_t queries, std::int64_t keys, std::int64_t group = 1) {
  return {.heads = 2 * group, .kv_heads = 2, .queries = queries, .keys = keys};
}

Call on_gpu(DType dtype, std::int64_t queries, std::int64_t channels) {
  return {.on_gpu = true,
          .dtype = dtype,
          .heads = 16,
          .kv_heads = 16,
          .queries = queries,
          .keys = 4096,
          .channels = channels,
          .value_channels = channels};
}

TEST(Route, OfTheCpuFollowsTheNumberOfQueries) {
  EXPECT_EQ(route(on_cpu(1, 65536)), Route::cpu_decode);
  EXPECT_EQ(route(on_cpu(4, 8)), Route::cpu_decode);
  EXPECT_EQ(route(on_cpu(5, 32)), Route::cpu_packed);
  EXPECT_EQ(route(on_cpu(5, 33)), Route::cpu_decode);
  EXPECT_EQ(route(on_cpu(16, 33)), Route::cpu_decode);
  EXPECT_EQ(route(on_cpu(17, 33)), Route::cpu_packed);
  EXPECT_EQ(route(on_cpu(8, 100, 2)), Route::cpu_decode);
  EXPECT_EQ(route(on_cpu(8, 100, 4)), Route::cpu_packed);
}

TEST(Route, OfLinearAttentionFollowsStepsChannelsAndBackward) {
  Call call{.queries = 4096, .keys = 4096, .channels = 127, .linear = true};
  EXPECT_EQ(route(call), Route::cpu_linear);
  call.channels = 128;
  EXPECT_EQ(route(call), Route::cpu_chunks);
  EXPECT_NE(why(call).find("not cpu_linear: with so many steps"), std::string::npos);
  call.channel_decay = true;
  EXPECT_EQ(route(call), Route::cpu_linear);
  call = {.queries = 23, .keys = 23, .channels = 256, .linear = true};
  EXPECT_EQ(route(call), Route::cpu_linear);
  call.dtype = DType::f64;
  EXPECT_EQ(route(call), Route::cpu_chunks);
  call.on_gpu = true;
  EXPECT_EQ(route(call), Route::gpu_linear);
  call.taped = true;
  EXPECT_EQ(route(call), Route::gpu_chunks);
  // What is forced for one kind of attention leaves the other alone.
  const ForceRoute rows(Route::gpu_rows);
  EXPECT_EQ(route(call), Route::gpu_chunks);
  EXPECT_FALSE(serves(Route::gpu_rows, call));
}

TEST(Route, OfTheCpuFollowsTheRecipe) {
  Recipe recipe;
  recipe.similarity = Similarity::additive;
  Call call = on_cpu(128, 512);
  call.recipe = &recipe;
  EXPECT_EQ(route(call), Route::cpu_additive);
  call.queries = 1;
  EXPECT_EQ(route(call), Route::cpu_decode);
  recipe = {};
  recipe.normaliser = normaliser_stage(normalise::Sparsemax{});
  EXPECT_EQ(route(call), Route::cpu_packed);
  call.dtype = DType::f64;
  EXPECT_EQ(route(call), Route::reference);
  EXPECT_NE(note_of(Route::reference, call), nullptr);
}

TEST(Route, ABackwardOfTheCpuPacks) {
  Call call = on_cpu(1, 100);
  call.backward = true;
  EXPECT_EQ(route(call), Route::cpu_packed);
}

TEST(Route, OfTheGpuWithoutModifiers) {
  EXPECT_EQ(route(on_gpu(DType::bf16, 4096, 128)), Route::gpu_hopper);
  EXPECT_EQ(route(on_gpu(DType::bf16, 4096, 64)), Route::gpu_hopper);
  EXPECT_EQ(route(on_gpu(DType::bf16, 4096, 33)), Route::gpu_hopper);
  EXPECT_EQ(route(on_gpu(DType::bf16, 4096, 32)), Route::gpu_general);
  EXPECT_EQ(route(on_gpu(DType::bf16, 4096, 96)), Route::gpu_general);
  EXPECT_EQ(route(on_gpu(DType::bf16, 4096, 256)), Route::gpu_general);
  EXPECT_EQ(route(on_gpu(DType::bf16, 4096, 257)), Route::gpu_rows);
  EXPECT_EQ(route(on_gpu(DType::f16, 4096, 128)), Route::gpu_tiles);
  EXPECT_EQ(route(on_gpu(DType::f32, 4096, 128)), Route::gpu_general);
  EXPECT_EQ(route(on_gpu(DType::f64, 4096, 128)), Route::gpu_rows);
}

TEST(Route, HopperAsksForItsGpuAndForRowsThatItCanMap) {
  Call call = on_gpu(DType::bf16, 4096, 128);
  call.capability = 80;
  EXPECT_EQ(route(call), Route::gpu_tiles);
  call.capability = 90;
  call.aligned = false;
  EXPECT_EQ(route(call), Route::gpu_tiles);
  call.aligned = true;
  call.backward = true;
  EXPECT_EQ(route(call), Route::gpu_hopper);
  call.channels = call.value_channels = 64;
  EXPECT_EQ(route(call), Route::gpu_tiles);
}

TEST(Route, ACommonRecipeIsFoundHoweverItIsWritten) {
  Recipe recipe;
  Call call = on_gpu(DType::bf16, 4096, 128);
  call.recipe = &recipe;
  const MaskTree causal = leaf(mask_stage(mask::Causal(0)));
  const MaskTree lengths = leaf(mask_stage(mask::Lengths{}));
  recipe.masks = {lengths, causal};
  EXPECT_EQ(route(call), Route::gpu_hopper);
  recipe.masks = {{MaskTree::Kind::all_of, {}, {causal, lengths}}};
  EXPECT_EQ(route(call), Route::gpu_hopper);
  recipe.masks = {leaf(mask_stage(mask::None{})), causal};
  EXPECT_EQ(route(call), Route::gpu_hopper);
  recipe.scores = {score_stage(score::Scale{2.0f}), score_stage(score::SoftCap{30.0f})};
  EXPECT_EQ(route(call), Route::gpu_hopper);
  recipe.scores = {score_stage(score::SoftCap{30.0f}), score_stage(score::Scale{2.0f})};
  EXPECT_EQ(route(call), Route::gpu_general);
  recipe.scores = {};
  recipe.masks = {{MaskTree::Kind::any_of, {}, {causal, lengths}}};
  EXPECT_EQ(route(call), Route::gpu_general);
  recipe.masks = {causal, lengths, lengths};
  EXPECT_EQ(route(call), Route::gpu_general);
  recipe.masks = {causal};
  recipe.weight_modifiers = {weight_stage(normalise::Dropout{1, 0.1f})};
  EXPECT_EQ(route(call), Route::gpu_tiles);
  recipe.weight_modifiers = {weight_stage(score::Program{})};
  EXPECT_EQ(route(call), Route::gpu_rows);
}

TEST(Route, OfTheGpuDecodesFewQueriesWithoutATape) {
  Recipe recipe;
  Call call = on_gpu(DType::f32, 16, 128);
  call.recipe = &recipe;
  EXPECT_EQ(route(call), Route::gpu_decode);
  call.queries = 17;
  EXPECT_EQ(route(call), Route::gpu_general);
  call.queries = 1;
  call.taped = true;
  EXPECT_EQ(route(call), Route::gpu_general);
  call.taped = false;
  recipe.scores = {score_stage(score::Bias{})};
  EXPECT_EQ(route(call), Route::gpu_decode);
  call.queries = 5;
  EXPECT_EQ(route(call), Route::gpu_general);
  EXPECT_TRUE(serves(Route::gpu_decode, call));
  recipe.weight_modifiers = {weight_stage(normalise::Dropout{1, 0.1f})};
  EXPECT_FALSE(serves(Route::gpu_decode, call));
  recipe = {};
  recipe.normaliser = normaliser_stage(normalise::SoftmaxSink{});
  call.queries = 1;
  EXPECT_EQ(route(call), Route::gpu_decode);
  recipe.normaliser = normaliser_stage(normalise::Sigmoid{});
  EXPECT_EQ(route(call), Route::gpu_general);
}

TEST(Route, OfTheGpuMakesAMatrixForThoseWhoLook) {
  Recipe recipe;
  Call call = on_gpu(DType::bf16, 64, 128);
  call.recipe = &recipe;
  call.weights = true;
  EXPECT_EQ(route(call), Route::gpu_matrix);
  call.queries = 4;
  EXPECT_EQ(route(call), Route::gpu_decode);
  call.taped = true;
  EXPECT_EQ(route(call), Route::gpu_matrix);
  call = on_gpu(DType::bf16, 64, 128);
  call.recipe = &recipe;
  call.weights = true;
  call.log_sum_exp = true;
  EXPECT_EQ(route(call), Route::gpu_hopper);
  call.log_sum_exp = false;
  recipe.normaliser = normaliser_stage(normalise::Identity{});
  EXPECT_EQ(route(call), Route::gpu_general);
  call.output = false;
  EXPECT_EQ(route(call), Route::gpu_matrix);
  recipe = {};
  recipe.similarity = Similarity::cosine;
  EXPECT_EQ(route(call), Route::gpu_rows);
  recipe.similarity = Similarity::sum;
  call.weights = false;
  EXPECT_EQ(route(call), Route::gpu_matrix);
}

TEST(Route, OfAdditiveAttentionOnTheGpu) {
  Recipe recipe;
  recipe.similarity = Similarity::additive;
  Call call = on_gpu(DType::f32, 128, 256);
  call.recipe = &recipe;
  EXPECT_EQ(route(call), Route::gpu_additive);
  call.backward = true;
  EXPECT_EQ(route(call), Route::gpu_additive);
  call.table_grads = true;
  EXPECT_EQ(route(call), Route::gpu_rows);
  call.table_grads = false;
  // What the two tiles of 16 x 16 scores take grows with the channels.
  call.channels = call.value_channels = 512;
  EXPECT_EQ(route(call), Route::gpu_additive);
  call.channels = call.value_channels = 600;
  EXPECT_EQ(route(call), Route::gpu_rows);
  call.backward = false;
  EXPECT_EQ(route(call), Route::gpu_additive);
  call.channels = 1025;
  EXPECT_EQ(route(call), Route::gpu_rows);
  call.channels = 64;
  call.dtype = DType::bf16;
  EXPECT_EQ(route(call), Route::gpu_matrix);
}

TEST(Route, OfPackedAndPagedSequences) {
  Call call = on_gpu(DType::bf16, 1, 128);
  call.paged = true;
  EXPECT_EQ(route(call), Route::gpu_decode);
  call.queries = 17;
  EXPECT_THROW(route(call), Unsupported);
  call.paged = false;
  call.packed = true;
  EXPECT_EQ(route(call), Route::gpu_rows);
  call.on_gpu = false;
  EXPECT_EQ(route(call), Route::cpu_packed);
}

TEST(Route, AFunctorOfYourOwnRunsOnTheCpuAlone) {
  Recipe recipe;
  recipe.scores = {erase_score(Halve{}, {})};
  Call call = on_cpu(100, 100);
  call.recipe = &recipe;
  EXPECT_EQ(route(call), Route::cpu_packed);
  call.on_gpu = true;
  try {
    route(call);
    FAIL() << "a functor without a kind ran on the GPU";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("forward.cuh"), std::string::npos) << error.what();
  }
}

TEST(Route, SaysWhy) {
  const std::string text = why(on_gpu(DType::f32, 4096, 128));
  EXPECT_NE(text.find("not gpu_hopper: the type has 32 bits"), std::string::npos) << text;
  EXPECT_NE(text.find("not gpu_decode: none or more than 16 queries"), std::string::npos);
  for (int i = 0; i < kRoutes; ++i) {
    const auto each = static_cast<Route>(i);
    EXPECT_EQ(route_named(name_of(each)), each);
    EXPECT_STRNE(speed_of(each, {}), "");
  }
  EXPECT_EQ(route_named("gpu_turbo"), std::nullopt);
}

TEST(Route, ASlowOneHasANote) {
  EXPECT_EQ(note_of(Route::gpu_hopper, on_gpu(DType::bf16, 4096, 128)), nullptr);
  EXPECT_EQ(note_of(Route::cpu_packed, on_cpu(100, 100)), nullptr);
  Call own = on_cpu(100, 100);
  Recipe with_lambda;
  with_lambda.scores = {score_stage(score::lambda([](auto s, auto) { return s; }))};
  own.recipe = &with_lambda;
  EXPECT_NE(note_of(Route::cpu_packed, own), nullptr);
  EXPECT_NE(std::string(speed_of(Route::cpu_packed, own)).find("not measured"),
            std::string::npos);
  EXPECT_NE(note_of(Route::gpu_general, on_gpu(DType::bf16, 4096, 96)), nullptr);
  EXPECT_NE(note_of(Route::gpu_rows, on_gpu(DType::f64, 4096, 96)), nullptr);
}

TEST(Route, IsForcedInItsScopeAndOnItsDevice) {
  const Call call = on_gpu(DType::bf16, 4096, 128);
  {
    const ForceRoute tiles(Route::gpu_tiles);
    EXPECT_EQ(route(call), Route::gpu_tiles);
    EXPECT_EQ(route(on_cpu(1, 100)), Route::cpu_decode);
    {
      const ForceRoute general(Route::gpu_general);
      EXPECT_EQ(route(call), Route::gpu_general);
    }
    EXPECT_EQ(route(call), Route::gpu_tiles);
    EXPECT_THROW(route(on_gpu(DType::f32, 4096, 128)), Unsupported);
  }
  EXPECT_EQ(route(call), Route::gpu_hopper);
}

/// One forward on the CPU, and what it gave.
struct OnCpu {
  std::vector<float> q, k, v, out;
  ForwardArgs<float> args;

  OnCpu(std::int64_t queries, std::int64_t keys) {
    const auto fill = [](std::vector<float>& numbers, std::int64_t rows) {
      for (std::int64_t i = 0; i < rows * 8; ++i)
        numbers.push_back(static_cast<float>((i * 7 + 3) % 11) * 0.1f - 0.5f);
    };
    fill(q, queries);
    fill(k, keys);
    fill(v, keys);
    out.resize(q.size());
    const auto view = [](auto* data, std::int64_t rows) {
      return View<std::remove_pointer_t<decltype(data)>, 4>{
          data, {1, 1, rows, 8}, {rows * 8, rows * 8, 8, 1}};
    };
    args.q = view(static_cast<const float*>(q.data()), queries);
    args.k = view(static_cast<const float*>(k.data()), keys);
    args.v = view(static_cast<const float*>(v.data()), keys);
    args.out = view(out.data(), queries);
  }
};

TEST(Route, IsTheOneThatRan) {
  const Recipe recipe;
  for (const std::int64_t queries : {1, 4, 5, 16, 17, 40})
    for (const std::int64_t keys : {20, 50}) {
      OnCpu run(queries, keys);
      cpu::forward(run.args, recipe);
      EXPECT_EQ(last_route(), route(call_of(run.args, recipe))) << queries << " x " << keys;
      const std::vector<float> own = run.out;
      for (const Route forced : {Route::cpu_decode, Route::cpu_packed}) {
        const ForceRoute force(forced);
        cpu::forward(run.args, recipe);
        EXPECT_EQ(last_route(), forced);
        for (std::size_t i = 0; i < own.size(); ++i)
          EXPECT_NEAR(run.out[i], own[i], test::kFloat);
      }
    }
}

TEST(Route, KeepsSimilaritiesThatAreFewOrDear) {
  Call call = on_cpu(64, 64);
  EXPECT_FALSE(keeps_similarities(call));
  call.taped = true;
  EXPECT_TRUE(keeps_similarities(call));
  call.keys = 65;
  EXPECT_FALSE(keeps_similarities(call));
  Recipe recipe;
  recipe.similarity = Similarity::additive;
  call.recipe = &recipe;
  EXPECT_TRUE(keeps_similarities(call));
  call.on_gpu = true;
  EXPECT_FALSE(keeps_similarities(call));
}

}  // namespace
}  // namespace attn
