// Few queries take a path of their own: keys and values are read where they lie, cut into
// pieces of kPieceKeys, and the pieces are merged.

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/mask/sliding_window.hpp"
#include "kernels/cpu/decode/piece.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using test::Spec;

/// Enough keys for three pieces, the last of them odd.
constexpr int kThreePieces = 2 * cpu::kPieceKeys + 905;

/// What forward writes agrees with the definition on every target.
std::string forward_agrees(const test::Problem& problem) {
  const test::Results want = test::forward_reference(problem);
  const int longest = std::max(1, problem.spec.keys);
  std::string wrong;
  for (const Target target : test::targets()) {
    const test::Results got = test::run_cpu(problem, {.target = target});
    const std::string off =
        test::difference("out", got.out, want.out,
                         test::tolerance(problem.spec.dtype, longest)) +
        test::difference("stat", got.stat, want.stat, test::tolerance(DType::f32, longest)) +
        got.damage;
    if (!off.empty()) wrong += std::string(name_of(target)) + ": " + off;
  }
  return wrong;
}

TEST(Decode, AgreesWithTheReferenceOverAGridOfSizes) {
  int index = 0;
  for (const int channels : {1, 3, 17, 64, 128})
    for (const int keys : {0, 1, 5, 300, kThreePieces})
      for (const int group : {1, 2, 8})
        test::check_spec({.seed = "direct sizes",
                          .kv_heads = 2,
                          .group = group,
                          .queries = 1 + index++ % 4,
                          .keys = keys,
                          .channels = channels,
                          .value_channels = channels == 17 ? 33 : channels},
                         forward_agrees);
}

TEST(Decode, AgreesWithTheReferenceForEveryElementTypeAndLayout) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (int lay = 0; lay < test::kLays; ++lay)
      for (const int queries : {1, 3})
        test::check_spec({.seed = "direct layouts",
                          .batch = 2,
                          .kv_heads = 2,
                          .queries = queries,
                          .keys = 293,
                          .channels = 43,
                          .value_channels = 21,
                          .dtype = dtype,
                          .q_lay = static_cast<test::Lay>((lay + 2) % test::kLays),
                          .kv_lay = static_cast<test::Lay>(lay),
                          .out_lay = static_cast<test::Lay>((lay + 4) % test::kLays)},
                         forward_agrees);
}

TEST(Decode, EverySimilarityAgreesWithTheReferenceAcrossPieces) {
  for (int similarity = 0; similarity < 6; ++similarity)
    for (const int group : {1, 2}) {
      Spec spec{.seed = "direct similarities",
                .group = group,
                .queries = 1,
                .keys = kThreePieces,
                .channels = 19,
                .value_channels = 5,
                .similarity = static_cast<Similarity>(similarity)};
      if (spec.similarity == Similarity::sum) spec.channels = 1;
      if (spec.similarity == Similarity::distance) spec.width = test::WidthKind::channel;
      if (spec.similarity == Similarity::given) {
        spec.channels = 0;
        spec.scores = {{test::ScoreKind::bias, test::Sharing::per_head}};
      }
      test::check_spec(spec, forward_agrees);
    }
}

TEST(Decode, EveryMaskAgreesWithTheReferenceAcrossPieces) {
  for (int mask = 0; mask < test::kMaskKinds; ++mask)
    for (const int queries : {1, 3})
      test::check_spec({.seed = "direct masks",
                        .batch = 2,
                        .kv_heads = 1,
                        .group = 2,
                        .queries = queries,
                        .keys = kThreePieces,
                        .channels = 8,
                        .value_channels = 6,
                        .masks = {{.leaf = static_cast<test::MaskKind>(mask)}}},
                       forward_agrees);
}

TEST(Decode, EveryNormaliserMergesItsPieces) {
  for (int normaliser = 0; normaliser < test::kNormaliserKinds; ++normaliser)
    for (int factor = -1; factor < test::kFactorKinds; ++factor) {
      Spec spec{.seed = "direct normalisers",
                .kv_heads = 2,
                .group = 2,
                .queries = 2,
                .keys = kThreePieces,
                .channels = 8,
                .value_channels = 6,
                .scores = {{test::ScoreKind::alibi, test::Sharing::per_head},
                           {test::ScoreKind::soft_cap, {}}},
                .masks = {{.leaf = test::MaskKind::causal}},
                .normaliser = static_cast<test::NormaliserKind>(normaliser)};
      if (factor >= 0) spec.factors = {{static_cast<test::FactorKind>(factor), {}}};
      test::check_spec(spec, forward_agrees);
    }
}

TEST(Decode, ThreadsAndBatchDoNotChangeTheBits) {
  Spec spec{.seed = "direct threads",
            .batch = 2,
            .kv_heads = 2,
            .group = 2,
            .queries = 2,
            .keys = kThreePieces,
            .channels = 24,
            .value_channels = 17,
            .masks = {{.leaf = test::MaskKind::lengths}}};
  test::check_spec(spec, [](const test::Problem& p) -> std::string {
    const test::Results one = test::run_cpu(p, {.threads = 1}, false);
    for (const int threads : {2, 5})
      if (!(test::run_cpu(p, {.threads = threads}, false).out == one.out))
        return "other bits for " + std::to_string(threads) + " threads; ";
    return "";
  });
}

/// A cache of one head in fp32.
struct Cache {
  int keys, channels;
  std::vector<float> q, k, v;

  Cache(test::Random& random, int count, int width)
      : keys(count),
        channels(width),
        q(random.numbers<float>(size())),
        k(random.numbers<float>(size())),
        v(random.numbers<float>(size())) {}
  std::size_t size() const {
    return static_cast<std::size_t>(keys) * static_cast<std::size_t>(channels);
  }
  /// The last `queries` queries over the first `length` keys.
  std::vector<float> attend(int queries, int length, const Recipe& recipe) const {
    std::vector<float> out(static_cast<std::size_t>(queries * channels));
    ForwardArgs<float> args;
    args.q =
        packed<const float>(q.data() + (length - queries) * channels, 1, 1, queries, channels);
    args.k = packed<const float>(k.data(), 1, 1, length, channels);
    args.v = packed<const float>(v.data(), 1, 1, length, channels);
    args.out = packed<float>(out.data(), 1, 1, queries, channels);
    cpu::forward(args, recipe);
    return out;
  }
};

TEST(Decode, DecodingTokenByTokenEqualsTheWholeCausalPass) {
  test::Random random("growing cache");
  const Cache cache(random, 301, 40);
  Recipe recipe;
  recipe.scale = 0.3f;
  Recipe causal = recipe;
  causal.masks.push_back(MaskTree::of(mask_stage(mask::Causal::top_left())));
  const std::vector<float> whole = cache.attend(cache.keys, cache.keys, causal);
  for (int length = 1; length <= cache.keys; ++length) {
    const std::vector<float> last = cache.attend(1, length, recipe);
    for (int c = 0; c < cache.channels; ++c)
      ASSERT_TRUE(
          test::close(last[static_cast<std::size_t>(c)],
                      whole[static_cast<std::size_t>((length - 1) * cache.channels + c)],
                      test::tolerance(DType::f32, length)))
          << "token " << length << ", channel " << c;
  }
}

TEST(Decode, WhatTheMaskDropsMayBeAnything) {
  test::Random random("masked garbage");
  constexpr int kKept = 77;
  Cache cache(random, 700, 21);
  const std::vector<int> lengths{kKept};
  Recipe recipe;
  recipe.masks.push_back(MaskTree::of(mask_stage(mask::Lengths{lengths.data()})));
  for (const int queries : {1, 3}) {
    Cache damaged = cache;
    const std::vector<float> want = cache.attend(queries, cache.keys, recipe);
    for (std::size_t i = kKept * 21; i < damaged.size(); ++i)
      damaged.k[i] = damaged.v[i] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(damaged.attend(queries, cache.keys, recipe), want) << queries << " queries";
    // An infinite score below the mask is nobody's business either.
    for (std::size_t i = kKept * 21; i < damaged.size(); ++i)
      damaged.k[i] = damaged.v[i] = std::numeric_limits<float>::infinity();
    EXPECT_EQ(damaged.attend(queries, cache.keys, recipe), want) << queries << " queries";
  }
}

TEST(Decode, AQueryThatMayLookAtNothingGetsZeros) {
  test::Random random("empty row");
  const Cache cache(random, kThreePieces, 5);
  Recipe recipe;
  recipe.masks.push_back(MaskTree::of(mask_stage(mask::SlidingWindow{0, 0, -1000000})));
  for (const int queries : {1, 2})
    for (const float x : cache.attend(queries, cache.keys, recipe)) EXPECT_EQ(x, 0.0f);
}

}  // namespace
}  // namespace attn
