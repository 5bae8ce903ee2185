// Sequences of different lengths behind one another.

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/mask/causal.hpp"
#include "support/random.hpp"

namespace attn {
namespace {

constexpr int kHeads = 4;
constexpr int kKvHeads = 2;
constexpr int kChannels = 10;
constexpr int kValues = 7;

/// Random numbers in any element type.
template <class T>
std::vector<T> numbers(test::Random& random, std::size_t count) {
  std::vector<T> result;
  for (const float x : random.numbers<float>(count)) result.push_back(T(x));
  return result;
}

/// Everything that goes in and out of one call, rows [heads, rows, channels] each.
template <class T>
struct Pass {
  std::vector<T> q, k, v, d_out, out, dq, dk, dv;
  std::vector<StatOf<T>> stat;
  std::int64_t queries, keys;

  Pass(std::int64_t n, std::int64_t m) : queries(n), keys(m) {
    q.resize(count(kHeads, n, kChannels));
    k.resize(count(kKvHeads, m, kChannels));
    v.resize(count(kKvHeads, m, kValues));
    d_out.resize(count(kHeads, n, kValues));
    out.resize(d_out.size());
    dq.resize(q.size());
    dk.resize(k.size());
    dv.resize(v.size());
    stat.resize(count(kHeads, n, 1));
  }
  static std::size_t count(std::int64_t heads, std::int64_t rows, std::int64_t channels) {
    return static_cast<std::size_t>(heads * rows * channels);
  }
  void run(const Recipe& recipe, const Packing& packing, int threads, bool keep = false) {
    std::vector<StatOf<T>> kept(keep ? count(kHeads, queries, keys) : 0);
    ForwardArgs<T> f;
    f.q = packed<const T>(q.data(), 1, kHeads, queries, kChannels);
    f.k = packed<const T>(k.data(), 1, kKvHeads, keys, kChannels);
    f.v = packed<const T>(v.data(), 1, kKvHeads, keys, kValues);
    f.out = packed<T>(out.data(), 1, kHeads, queries, kValues);
    f.stat = packed<StatOf<T>>(stat.data(), 1, kHeads, queries);
    f.packing = packing;
    if (keep) f.similarities = packed<StatOf<T>>(kept.data(), 1, kHeads, queries, keys);
    cpu::forward(f, recipe, {.threads = threads});
    BackwardArgs<T> b;
    b.q = f.q;
    b.k = f.k;
    b.v = f.v;
    b.out = f.out;
    b.stat = f.stat;
    b.d_out = packed<const T>(d_out.data(), 1, kHeads, queries, kValues);
    b.dq = packed<T>(dq.data(), 1, kHeads, queries, kChannels);
    b.dk = packed<T>(dk.data(), 1, kKvHeads, keys, kChannels);
    b.dv = packed<T>(dv.data(), 1, kKvHeads, keys, kValues);
    b.packing = packing;
    if (keep) b.similarities = f.similarities;
    cpu::backward(b, recipe, {}, {.threads = threads});
  }
};

/// Rows [first, first + rows) of each head of `all`, which has `total`.
template <class T>
std::vector<T> cut(const std::vector<T>& all, std::int64_t total, std::int64_t first,
                   std::int64_t rows, std::int64_t channels) {
  std::vector<T> part;
  if (total == 0) return part;
  const std::int64_t heads = static_cast<std::int64_t>(all.size()) / (total * channels);
  for (std::int64_t h = 0; h < heads; ++h) {
    const auto begin = all.begin() + (h * total + first) * channels;
    part.insert(part.end(), begin, begin + rows * channels);
  }
  return part;
}
template <class T>
std::vector<float> plain(const std::vector<T>& data) {
  std::vector<float> result;
  for (const T& x : data) result.push_back(static_cast<float>(x));
  return result;
}

template <class T>
void packed_equals_alone(const char* seed, const Recipe& recipe, bool keep = false) {
  test::Random random(seed);
  const std::vector<std::int64_t> q_lengths{5, 0, 1, 130, 3, 0, 40, 1};
  const std::vector<std::int64_t> k_lengths{7, 4, 300, 150, 0, 0, 40, 4500};
  std::vector<std::int64_t> q{0}, k{0};
  for (const std::int64_t n : q_lengths) q.push_back(q.back() + n);
  for (const std::int64_t m : k_lengths) k.push_back(k.back() + m);
  Pass<T> all(q.back(), k.back());
  for (auto* data : {&all.q, &all.k, &all.v, &all.d_out})
    *data = numbers<T>(random, data->size());
  all.run(recipe, {q.data(), k.data(), 8}, 2, keep);
  for (std::size_t b = 0; b < q_lengths.size(); ++b) {
    const std::int64_t n = q_lengths[b], m = k_lengths[b];
    const auto of_q = [&](const auto& from, std::int64_t channels) {
      return cut(from, q.back(), q[b], n, channels);
    };
    const auto of_k = [&](const auto& from, std::int64_t channels) {
      return cut(from, k.back(), k[b], m, channels);
    };
    Pass<T> alone(n, m);
    alone.q = of_q(all.q, kChannels);
    alone.k = of_k(all.k, kChannels);
    alone.v = of_k(all.v, kValues);
    alone.d_out = of_q(all.d_out, kValues);
    alone.run(recipe, {}, 1, keep);
    EXPECT_EQ(plain(of_q(all.out, kValues)), plain(alone.out)) << "out of sequence " << b;
    EXPECT_EQ(plain(of_q(all.stat, 1)), plain(alone.stat)) << "stat of sequence " << b;
    EXPECT_EQ(plain(of_q(all.dq, kChannels)), plain(alone.dq)) << "dq of sequence " << b;
    EXPECT_EQ(plain(of_k(all.dk, kChannels)), plain(alone.dk)) << "dk of sequence " << b;
    EXPECT_EQ(plain(of_k(all.dv, kValues)), plain(alone.dv)) << "dv of sequence " << b;
  }
}

TEST(Packing, EverySequenceGivesTheBitsItGivesAlone) {
  Recipe recipe;
  recipe.scale = 0.4f;
  packed_equals_alone<float>("packed f32", recipe);
  packed_equals_alone<float>("packed and kept", recipe, true);
  packed_equals_alone<BFloat16>("packed bf16", recipe);
  recipe.similarity = Similarity::cosine;
  recipe.masks.push_back(MaskTree::of(mask_stage(mask::Causal{2})));
  packed_equals_alone<float>("packed causal", recipe);
  packed_equals_alone<Float16>("packed f16", recipe);
  packed_equals_alone<Float16>("packed, causal and kept", recipe, true);
}

TEST(Packing, BadOffsetsAreErrors) {
  Pass<float> pass(6, 9);
  const std::vector<std::int64_t> q{0, 2, 6}, k{0, 4, 9};
  const auto complaint = [&](const Packing& packing) -> std::string {
    try {
      pass.run(Recipe{}, packing, 1);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint({q.data(), k.data(), 2}), "");
  EXPECT_NE(complaint({q.data(), k.data(), -1}), "");
  EXPECT_NE(complaint({q.data(), nullptr, 2}), "");
  EXPECT_NE(complaint({nullptr, k.data(), 2}), "");
  for (const std::vector<std::int64_t>& bad :
       {std::vector<std::int64_t>{1, 2, 6}, {0, 7, 6}, {0, 2, 7}, {0, -2, 6}})
    EXPECT_NE(complaint({bad.data(), k.data(), 2}), "")
        << bad[0] << ' ' << bad[1] << ' ' << bad[2];
}

}  // namespace
}  // namespace attn
