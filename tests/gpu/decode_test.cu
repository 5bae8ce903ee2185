/// Decoding on the GPU against the definition in double.

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "attn/kernels/erase.hpp"
#include "attn/kernels/gpu/functor/decode.cuh"
#include "attn/kernels/reference/attention.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/combine.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/mask/none.hpp"
#include "attn/mask/sliding_window.hpp"
#include "attn/normalise/softmax.hpp"
#include "attn/normalise/softmax_sink.hpp"
#include "attn/score/alibi.hpp"
#include "attn/score/bias.hpp"
#include "attn/score/soft_cap.hpp"
#include "gpu/on_device.cuh"
#include "kernels/support/strided.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::gpu {
namespace {

using test::Lay;
using test::OnDevice;
using test::Random;
using test::Strided;
using test::ViewOnDevice;

using Plain = Stages<score::Chain<>, mask::None, normalise::Softmax>;

struct Sizes {
  int batch = 1;
  int kv_heads = 1;
  int group = 1;
  int queries = 1;
  int keys = 1;
  int channels = 8;
  int values = 8;
  Lay lay = Lay::packed;

  int heads() const { return kv_heads * group; }
  std::string text() const {
    return "batch " + std::to_string(batch) + ", kv heads " + std::to_string(kv_heads) +
           ", group " + std::to_string(group) + ", queries " + std::to_string(queries) +
           ", keys " + std::to_string(keys) + ", channels " + std::to_string(channels) + " / " +
           std::to_string(values) + ", layout " + std::to_string(static_cast<int>(lay));
  }
};

/// Numbers that T holds, in double.
template <class T>
std::vector<double> numbers(Random& random, const test::Shape& shape, double size = 1.0) {
  std::vector<double> result(
      static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
  for (double& x : result) x = test::widen(test::narrow<T>(random.uniform(-size, size)));
  return result;
}

template <class T>
View<T, 3> flat(const View<T, 4>& view) {
  return {view.data,
          {view.shape[0], view.shape[1], view.shape[2]},
          {view.strides[0], view.strides[1], view.strides[2]}};
}

View<const double, 4> view_of(const std::vector<double>& list, const test::Shape& shape) {
  return packed<const double>(list.data(), shape[0], shape[1], shape[2], shape[3]);
}

class Decode : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_device()) GTEST_SKIP() << "this machine has no GPU";
  }

  /// Runs both and compares; `edit` may change keys and values before.
  template <class T, class St, class Edit>
  void compare(Random& random, const Sizes& size, const St& stages, Recipe recipe,
               const Edit& edit) {
    SCOPED_TRACE(size.text());
    recipe.scale = stages.scale;
    const test::Shape q_shape{size.batch, size.heads(), size.queries, size.channels};
    const test::Shape k_shape{size.batch, size.kv_heads, size.keys, size.channels};
    const test::Shape v_shape{size.batch, size.kv_heads, size.keys, size.values};
    const test::Shape out_shape{size.batch, size.heads(), size.queries, size.values};
    const test::Shape stat_shape{size.batch, size.heads(), size.queries, 1};
    const auto q = numbers<T>(random, q_shape, 2.0);
    auto k = numbers<T>(random, k_shape, 2.0);
    auto v = numbers<T>(random, v_shape);
    edit(k, v);

    std::vector<double> want(
        static_cast<std::size_t>(size.batch * size.heads() * size.queries * size.values));
    std::vector<double> want_stat(
        static_cast<std::size_t>(size.batch * size.heads() * size.queries));
    ForwardArgs<double> by_definition{
        .q = view_of(q, q_shape), .k = view_of(k, k_shape), .v = view_of(v, v_shape)};
    by_definition.out =
        packed<double>(want.data(), out_shape[0], out_shape[1], out_shape[2], out_shape[3]);
    by_definition.stat =
        packed<double>(want_stat.data(), out_shape[0], out_shape[1], out_shape[2]);
    reference::forward(by_definition, recipe);

    Strided<T> q_host(q_shape, size.lay, q), k_host(k_shape, size.lay, k);
    Strided<T> v_host(v_shape, size.lay, v), out_host(out_shape, size.lay);
    Strided<float> stat_host(stat_shape, size.lay);
    const ViewOnDevice<T> q_device(q_host.view()), k_device(k_host.view());
    const ViewOnDevice<T> v_device(v_host.view()), out_device(out_host.view());
    const ViewOnDevice<float> stat_device(stat_host.view());
    const ForwardArgs<T> args{.q = q_device.view(),
                              .k = k_device.view(),
                              .v = v_device.view(),
                              .out = out_device.view(),
                              .stat = flat(stat_device.view())};
    const OnDevice<unsigned char> workspace(decode_workspace_bytes(args));
    decode(args, stages, workspace.get(), nullptr);
    ATTN_CUDA_CALL(cudaDeviceSynchronize());
    out_device.read();
    stat_device.read();
    expect_close(kDType<T>, out_host.values(), want, size.channels + 1);
    expect_close(DType::f32, stat_host.values(), want_stat, size.channels + size.keys + 1);
    EXPECT_EQ(out_host.damage(), "");
  }
  template <class T, class St>
  void compare(Random& random, const Sizes& size, const St& stages, const Recipe& recipe) {
    compare<T>(random, size, stages, recipe, [](auto&, auto&) {});
  }

  static void expect_close(DType dtype, const std::vector<double>& got,
                           const std::vector<double>& want, int length) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(got[i]) && std::isnan(want[i])) continue;
      ASSERT_TRUE(test::close(got[i], want[i], test::tolerance(dtype, length)))
          << "number " << i;
    }
  }

  template <class T>
  void hidden_nan(const char* seed);

  template <class T>
  void every_size(const char* seed) {
    Random random(seed);
    for (const int channels : {0, 1, 7, 8, 16, 31, 32, 64, 72, 96, 128, 129, 160, 192, 256}) {
      for (const int keys : {0, 1, 15, 64, 65, 300, 1031}) {
        Sizes size{.batch = random.whole(1, 3),
                   .kv_heads = random.whole(1, 3),
                   .group = random.whole(1, 5),
                   .queries = random.whole(1, 3),
                   .keys = keys,
                   .channels = channels,
                   .values = random.whole(0, 1) == 0 ? channels : random.whole(0, 256),
                   .lay = static_cast<Lay>(random.whole(0, 2 * test::kLays))};
        if (static_cast<int>(size.lay) >= test::kLays) size.lay = Lay::packed;
        const Plain stages{.scale = 0.3f};
        compare<T>(random, size, stages, Recipe());
      }
    }
    compare<T>(random,
               {.batch = 2,
                .kv_heads = 2,
                .group = 8,
                .queries = 16,
                .keys = 777,
                .channels = 64,
                .values = 64},
               Plain{.scale = 0.125f}, Recipe());
    compare<T>(random,
               {.batch = 1, .kv_heads = 1, .keys = 40000, .channels = 128, .values = 128},
               Plain{.scale = 0.1f}, Recipe());
  }
};

TEST_F(Decode, AgreesWithTheDefinitionInFloat) {
  every_size<float>("decode float");
}
TEST_F(Decode, AgreesWithTheDefinitionInBFloat16) {
  every_size<BFloat16>("decode bf16");
}
TEST_F(Decode, AgreesWithTheDefinitionInFloat16) {
  every_size<Float16>("decode f16");
}

TEST_F(Decode, TakesModifiersMasksAndASink) {
  Random random("decode stages");
  for (const int keys : {1, 5, 130, 700}) {
    Sizes size{.batch = 3,
               .kv_heads = 2,
               .group = 2,
               .queries = 5,
               .keys = keys,
               .channels = 40,
               .values = 24};
    // The second sequence has no keys at all.
    const std::vector<int> lengths{keys, 0, (keys + 1) / 2};
    const OnDevice<int> lengths_there(lengths);
    const std::vector<float> slopes{0.5f, 0.25f, 0.1f, 0.01f};
    const std::vector<float> sinks{0.5f, -1.0f, 2.0f, 0.0f};
    const OnDevice<float> slopes_there(slopes), sinks_there(sinks);
    const int offset = keys - size.queries;

    const auto chain = score::chain(score::SoftCap{3.0f}, score::Alibi{offset});
    const auto mask_of = [&](const int* list) {
      return mask::both(mask::Causal{offset}, mask::Lengths{list});
    };
    Stages<std::decay_t<decltype(chain)>, std::decay_t<decltype(mask_of(nullptr))>,
           normalise::SoftmaxSink>
        stages{.scale = 0.7f, .score = chain, .mask = mask_of(lengths_there.get())};
    stages.score_tables = {table(slopes_there.get(), {1, 4, 1, 1})};
    stages.normaliser_tables = {table(sinks_there.get(), {1, 4, 1, 1})};
    Recipe recipe;
    recipe.scores = {erase_score(chain, {table(slopes.data(), {1, 4, 1, 1})})};
    recipe.masks = {MaskTree::of(erase_mask(mask_of(lengths.data())))};
    recipe.normaliser =
        erase_normaliser(normalise::SoftmaxSink{}, {table(sinks.data(), {1, 4, 1, 1})});
    compare<float>(random, size, stages, recipe);
  }
}

TEST_F(Decode, TakesADenseBiasAndAWindow) {
  Random random("decode bias");
  for (const int keys : {3, 64, 900}) {
    const Sizes size{.batch = 2,
                     .kv_heads = 3,
                     .group = 1,
                     .queries = 2,
                     .keys = keys,
                     .channels = 64,
                     .values = 64};
    auto bias = random.numbers<float>(static_cast<std::size_t>(2 * 3 * 2 * keys));
    bias[0] = -std::numeric_limits<float>::infinity();
    const OnDevice<float> bias_there(bias);
    const mask::SlidingWindow window{70, 0, keys - 2};
    Stages<score::Bias, mask::SlidingWindow, normalise::Softmax> stages{.scale = 0.5f,
                                                                        .mask = window};
    stages.score_tables = {table(bias_there.get(), {2, 3, 2, keys})};
    Recipe recipe;
    recipe.scores = {erase_score(score::Bias{}, {table(bias.data(), {2, 3, 2, keys})})};
    recipe.masks = {MaskTree::of(erase_mask(window))};
    compare<float>(random, size, stages, recipe);
    compare<BFloat16>(random, size, stages, recipe);
  }
}

/// Stages of a recipe whose pointers are the device's or the host's.
Recipe make_recipe(int which, int keys, const int* lengths, const float* numbers) {
  const int offset = keys - 3;
  const auto leaf = [](const auto& mask) { return MaskTree::of(erase_mask(mask)); };
  Recipe recipe;
  recipe.scale = 0.4f;
  if (which == 1) recipe.masks = {leaf(mask::Causal{offset})};
  if (which == 2) recipe.masks = {leaf(mask::Lengths{lengths})};
  if (which == 3) recipe.masks = {leaf(mask::SlidingWindow{9, 4, offset})};
  if (which == 4) {
    MaskTree outside{MaskTree::Kind::none_of, {}, {leaf(mask::SlidingWindow{5, 5, offset})}};
    recipe.masks = {leaf(mask::Causal{offset}),
                    {MaskTree::Kind::any_of, {}, {outside, leaf(mask::Lengths{lengths})}}};
    recipe.scores = {erase_score(score::SoftCap{2.0f}, {}),
                     erase_score(score::Alibi{offset}, {table(numbers, {1, 4, 1, 1})}),
                     erase_score(score::Bias{}, {table(numbers, {1, 1, 1, keys})})};
  }
  if (which == 5)
    recipe.normaliser =
        erase_normaliser(normalise::SoftmaxSink{}, {table(numbers, {1, 4, 1, 1})});
  return recipe;
}

TEST_F(Decode, TakesRecipesChosenAtRunTime) {
  Random random("decode recipes");
  for (const int keys : {1, 70, 600})
    for (int which = 0; which < 6; ++which) {
      const Sizes size{.batch = 2,
                       .kv_heads = 2,
                       .group = 2,
                       .queries = 3,
                       .keys = keys,
                       .channels = 24,
                       .values = 16};
      const std::vector<int> lengths{keys / 2, keys};
      const auto numbers = random.numbers<float>(static_cast<std::size_t>(keys + 4));
      const OnDevice<int> lengths_there(lengths);
      const OnDevice<float> numbers_there(numbers);
      SCOPED_TRACE("recipe " + std::to_string(which));
      compare<float>(random, size,
                     make_recipe(which, keys, lengths_there.get(), numbers_there.get()),
                     make_recipe(which, keys, lengths.data(), numbers.data()));
    }
}

/// One workspace serves a recipe whether it has a kernel of its own or not, though the keys are
/// cut into other numbers of parts.
TEST_F(Decode, TheWorkspaceServesEveryRecipe) {
  Random random("decode workspace");
  const Sizes size{.batch = 128,
                   .kv_heads = 1,
                   .group = 2,
                   .queries = 1,
                   .keys = 1500,
                   .channels = 8,
                   .values = 8};
  const auto numbers = random.numbers<float>(1500);
  const OnDevice<float> numbers_there(numbers);
  Recipe there;
  Recipe recipe;
  compare<BFloat16>(random, size, there, recipe);
  there.scores = {erase_score(score::Bias{}, {table(numbers_there.get(), {1, 1, 1, 1500})})};
  recipe.scores = {erase_score(score::Bias{}, {table(numbers.data(), {1, 1, 1, 1500})})};
  compare<BFloat16>(random, size, there, recipe);
}

/// Keys that no row sees, values that only some rows see, and values behind a score of -inf.
template <class T>
void Decode::hidden_nan(const char* seed) {
  Random random(seed);
  const double nan = std::nan("");
  const float infinity = std::numeric_limits<float>::infinity();
  for (const int queries : {1, 3, 11}) {
    const Sizes size{.batch = 1,
                     .kv_heads = 1,
                     .group = 2,
                     .queries = queries,
                     .keys = 200,
                     .channels = 16,
                     .values = 72};
    const auto spoil = [&](int key, auto& k, auto& v) {
      std::fill_n(k.begin() + key * 16, 16, nan);
      std::fill_n(v.begin() + key * 72, 72, nan);
    };
    // Query i sees keys [80 + i, 105 + i].
    const mask::SlidingWindow window{20, 5, 100};
    const auto edit = [&](auto& k, auto& v) {
      for (int j = 0; j < 80; ++j) spoil(j, k, v);
      for (int j = 105 + queries; j < 200; ++j) spoil(j, k, v);
      v[(105 + queries - 1) * 72 + 5] = nan;  // the last query's last key, one channel
      v[(105 + queries / 2) * 72 + 71] = infinity;
    };
    Recipe recipe;
    recipe.masks = {MaskTree::of(erase_mask(window))};
    compare<T>(random, size,
               Stages<score::Chain<>, mask::SlidingWindow, normalise::Softmax>{.mask = window},
               recipe, edit);
    // The same, with tables that hide key 90 and with functors chosen at run time.
    std::vector<float> table_of(200, 0.0f);
    table_of[90] = -infinity;
    const OnDevice<float> table_there(table_of);
    const auto edit_more = [&](auto& k, auto& v) {
      edit(k, v);
      std::fill_n(v.begin() + 90 * 72, 72, nan);
    };
    Recipe there = recipe;
    there.scores = {erase_score(score::Bias{}, {table(table_there.get(), {1, 1, 1, 200})})};
    recipe.scores = {erase_score(score::Bias{}, {table(table_of.data(), {1, 1, 1, 200})})};
    compare<T>(random, size, there, recipe, edit_more);
    there.masks.clear();
    recipe.masks.clear();
    compare<T>(random, size, there, recipe,
               [&](auto&, auto& v) { std::fill_n(v.begin() + 90 * 72, 72, nan); });
  }
}

TEST_F(Decode, WhatIsHiddenMayBeNan) {
  hidden_nan<float>("decode nan");
  hidden_nan<BFloat16>("decode nan bf16");
  hidden_nan<Float16>("decode nan f16");
}

/// Pages in any order hold what a sequence of its own holds.
template <class T>
void check_pages(const char* seed, int page_size, int queries) {
  Random random(seed);
  const std::vector<std::int64_t> lengths{37, 0, 1, 2100, 64};
  const std::int64_t stride = 2100 / page_size + 2;
  const std::int64_t pages = 5 * stride;
  std::vector<std::int32_t> places(static_cast<std::size_t>(pages));
  std::iota(places.begin(), places.end(), 0);
  random.shuffle(places);
  const test::Shape q_shape{5, 4, queries, 72}, k_shape{pages, 2, page_size, 72};
  const test::Shape v_shape{pages, 2, page_size, 40}, out_shape{5, 4, queries, 40};
  const auto q = numbers<T>(random, q_shape), k = numbers<T>(random, k_shape);
  const auto v = numbers<T>(random, v_shape);
  std::vector<double> want(static_cast<std::size_t>(5 * 4 * queries * 40));
  ForwardArgs<double> by_definition{
      .q = view_of(q, q_shape), .k = view_of(k, k_shape), .v = view_of(v, v_shape)};
  by_definition.out = packed<double>(want.data(), 5, 4, queries, 40);
  by_definition.paging = {places.data(), stride, lengths.data()};
  reference::forward(by_definition, Recipe());

  Strided<T> q_host(q_shape, Lay::packed, q), k_host(k_shape, Lay::packed, k);
  Strided<T> v_host(v_shape, Lay::packed, v), out_host(out_shape, Lay::packed);
  const ViewOnDevice<T> q_device(q_host.view()), k_device(k_host.view());
  const ViewOnDevice<T> v_device(v_host.view()), out_device(out_host.view());
  const OnDevice<std::int32_t> places_there(places);
  const OnDevice<std::int64_t> lengths_there(lengths);
  ForwardArgs<T> args{.q = q_device.view(),
                      .k = k_device.view(),
                      .v = v_device.view(),
                      .out = out_device.view()};
  args.paging = {places_there.get(), stride, lengths_there.get()};
  const OnDevice<unsigned char> workspace(decode_workspace_bytes(args));
  decode(args, Plain{}, workspace.get(), nullptr);
  ATTN_CUDA_CALL(cudaDeviceSynchronize());
  out_device.read();
  const auto got = out_host.values();
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_TRUE(test::close(got[i], want[i], test::tolerance(kDType<T>, 72)))
        << "number " << i << ", page size " << page_size;
}

TEST_F(Decode, ReadsKeysFromPages) {
  check_pages<float>("decode pages 1", 1, 1);
  check_pages<float>("decode pages 7", 7, 3);
  check_pages<BFloat16>("decode pages 16", 16, 1);
  check_pages<Float16>("decode pages 48", 48, 2);
  check_pages<BFloat16>("decode pages 256", 256, 9);
}

TEST_F(Decode, SaysWhatItIsNotBuiltFor) {
  const auto make = [](std::int64_t queries, std::int64_t channels) {
    ForwardArgs<float> args;
    args.q = packed<const float>(nullptr, 1, 2, queries, channels);
    args.k = packed<const float>(nullptr, 1, 2, 5, channels);
    args.v = packed<const float>(nullptr, 1, 2, 5, channels);
    args.out = packed<float>(nullptr, 1, 2, queries, channels);
    return args;
  };
  const Plain stages;
  EXPECT_THROW(decode(make(17, 8), stages, nullptr, nullptr), Unsupported);
  EXPECT_THROW(decode(make(1, 257), stages, nullptr, nullptr), Unsupported);
  auto packed_up = make(1, 8);
  const std::int64_t offsets[] = {0, 1};
  packed_up.packing = {offsets, offsets, 1};
  EXPECT_THROW(decode(packed_up, stages, nullptr, nullptr), Unsupported);
  auto wrong = make(1, 8);
  wrong.out.shape[3] = 9;
  EXPECT_THROW(decode(wrong, stages, nullptr, nullptr), InvalidArgument);
  Recipe other;
  other.similarity = Similarity::cosine;
  EXPECT_THROW(decode(make(0, 8), other, nullptr, nullptr), Error);
}

}  // namespace
}  // namespace attn::gpu
