/// Additive attention on every instruction set this machine has, against the definition.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/table.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/reference/attention.hpp"
#include "attn/mask/dense.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::cpu {
namespace {

using test::Random;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// What a score may be off by, as a share of the sum of |w|: the exponentials, the quotient and
/// a sum of 256 terms are a few roundings each.
constexpr double kScoreError = 2e-6;

struct Sizes {
  int queries;
  int keys;
  int channels;
  int values = 5;
  int batch = 1;
  int heads = 1;
  int kv_heads = 1;
};

std::size_t count_of(int batch, int heads, int rows, int channels) {
  return static_cast<std::size_t>(batch) * static_cast<std::size_t>(heads) *
         static_cast<std::size_t>(rows) * static_cast<std::size_t>(channels);
}

/// Sums of twelve uniform numbers: nearly Gaussian, with a standard deviation of `spread`.
std::vector<float> gaussian(Random& random, std::size_t count, double spread) {
  std::vector<float> result(count);
  for (float& x : result) {
    double sum = 0.0;
    for (int i = 0; i < 12; ++i) sum += random.uniform(-0.5, 0.5);
    x = static_cast<float>(spread * sum);
  }
  return result;
}

/// One additive problem in T, with everything it writes.
template <class T>
struct Numbers {
  Sizes size;
  std::vector<T> q, k, v, w, d_out;
  std::vector<T> out, stat, dq, dk, dv, dw;
  Recipe recipe;

  template <class From>
  explicit Numbers(const Numbers<From>& from)
      : size(from.size),
        q(from.q.begin(), from.q.end()),
        k(from.k.begin(), from.k.end()),
        v(from.v.begin(), from.v.end()),
        w(from.w.begin(), from.w.end()),
        d_out(from.d_out.begin(), from.d_out.end()),
        recipe(from.recipe) {
    reserve();
  }

  Numbers(const Sizes& sizes, double spread, Random& random) : size(sizes) {
    q = gaussian(random, count_of(size.batch, size.heads, size.queries, size.channels), spread);
    k = gaussian(random, count_of(size.batch, size.kv_heads, size.keys, size.channels), spread);
    v = gaussian(random, count_of(size.batch, size.kv_heads, size.keys, size.values), 1.0);
    d_out = gaussian(random, count_of(size.batch, size.heads, size.queries, size.values), 1.0);
    const auto entries = static_cast<std::size_t>(size.kv_heads * size.channels);
    w = gaussian(random, entries, 1.0 / std::sqrt(size.channels));
    reserve();
  }

  void reserve() {
    out.resize(d_out.size());
    stat.resize(count_of(size.batch, size.heads, size.queries, 1));
    dq.resize(q.size());
    dk.resize(k.size());
    dv.resize(v.size());
    dw.resize(w.size());
    recipe.similarity = Similarity::additive;
    recipe.weights = table<T>(w.data(), {1, size.kv_heads, 1, size.channels});
  }

  ForwardArgs<T> forward_args() {
    return {.q = packed<const T>(q.data(), size.batch, size.heads, size.queries, size.channels),
            .k = packed<const T>(k.data(), size.batch, size.kv_heads, size.keys, size.channels),
            .v = packed<const T>(v.data(), size.batch, size.kv_heads, size.keys, size.values),
            .out = packed<T>(out.data(), size.batch, size.heads, size.queries, size.values),
            .stat = packed<T>(stat.data(), size.batch, size.heads, size.queries)};
  }

  BackwardArgs<T> backward_args() {
    const ForwardArgs<T> f = forward_args();
    return {.q = f.q,
            .k = f.k,
            .v = f.v,
            .out = f.out,
            .stat = f.stat,
            .d_out = packed<const T>(d_out.data(), size.batch, size.heads, size.queries,
                                     size.values),
            .dq = packed<T>(dq.data(), size.batch, size.heads, size.queries, size.channels),
            .dk = packed<T>(dk.data(), size.batch, size.kv_heads, size.keys, size.channels),
            .dv = packed<T>(dv.data(), size.batch, size.kv_heads, size.keys, size.values)};
  }

  RecipeGrads grads() {
    RecipeGrads result;
    result.weights = table_grad<T>(dw.data(), {1, size.kv_heads, 1, size.channels});
    return result;
  }

  View<T, 4> pairs(std::vector<T>& memory) const {
    memory.resize(count_of(size.batch, size.heads, size.queries, size.keys));
    return packed<T>(memory.data(), size.batch, size.heads, size.queries, size.keys);
  }
};

void expect_close(const char* what, const std::vector<float>& got,
                  const std::vector<double>& want, double within) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(test::close(got[i], want[i], within)) << what << " at " << i;
}

class AdditiveOn : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    if (!available(GetParam())) GTEST_SKIP() << "this machine has no " << name_of(GetParam());
  }

  Context context(int threads = 1) const { return {.threads = threads, .target = GetParam()}; }

  /// Every score against double; where the definition gives NaN, so must we, and only there.
  void check_scores(Numbers<float>& numbers) const {
    Numbers<double> exact(numbers);
    std::vector<float> got;
    std::vector<double> want;
    scores(numbers.forward_args(), numbers.recipe, 0, false, numbers.pairs(got), context());
    reference::scores(exact.forward_args(), exact.recipe, 0, false, exact.pairs(want));
    double size_of_w = 0.0;
    for (const float w : numbers.w) size_of_w += std::fabs(w);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t query = i / static_cast<std::size_t>(numbers.size.keys);
      const std::size_t key = i % static_cast<std::size_t>(numbers.size.keys);
      if (std::isnan(want[i])) {
        ASSERT_TRUE(std::isnan(got[i])) << "query " << query << ", key " << key;
      } else {
        ASSERT_NEAR(got[i], want[i], kScoreError * size_of_w)
            << "query " << query << ", key " << key;
      }
    }
  }

  /// Outputs and all gradients against double.
  void check_gradients(Numbers<float>& numbers) const {
    Numbers<double> exact(numbers);
    forward(numbers.forward_args(), numbers.recipe, context());
    backward(numbers.backward_args(), numbers.recipe, numbers.grads(), context());
    reference::forward(exact.forward_args(), exact.recipe);
    reference::backward(exact.backward_args(), exact.recipe, exact.grads());
    const Sizes& size = numbers.size;
    const double of_row = test::tolerance(DType::f32, size.keys);
    const int rows = size.batch * size.heads * size.queries;
    expect_close("out", numbers.out, exact.out, of_row);
    expect_close("stat", numbers.stat, exact.stat, of_row);
    expect_close("dv", numbers.dv, exact.dv, test::tolerance(DType::f32, rows));
    expect_close("dq", numbers.dq, exact.dq, of_row);
    expect_close("dk", numbers.dk, exact.dk, test::tolerance(DType::f32, rows));
    expect_close("dw", numbers.dw, exact.dw, test::tolerance(DType::f32, rows * size.keys));
  }
};

TEST_P(AdditiveOn, ScoresAreCloseToDoubleAtEverySpread) {
  for (const double spread : {0.1, 1.0, 3.0, 10.0, 30.0})
    for (const Sizes& size : {Sizes{1, 1, 1}, Sizes{5, 7, 3}, Sizes{24, 16, 17},
                              Sizes{31, 37, 64}, Sizes{100, 130, 65}, Sizes{29, 300, 256}}) {
      SCOPED_TRACE("spread " + std::to_string(spread) + ", " + std::to_string(size.channels) +
                   " channels");
      Random random("additive scores");
      Numbers<float> numbers(size, spread, random);
      check_scores(numbers);
    }
}

TEST_P(AdditiveOn, LargeTermsThatCancelKeepTheirDigits) {
  // Sums near zero of terms on both sides of every bound inside the kernel.
  for (const int channels : {1, 2, 5}) {
    Random random("additive cancelling");
    Numbers<float> numbers({64, 64, channels}, 1.0, random);
    std::vector<float> sizes;
    for (const float x : {5.0f, 9.9f, 10.1f, 19.0f, 21.0f, 32.9f, 33.1f, 42.9f, 43.1f, 44.5f,
                          60.0f, 90.0f, 1e4f})
      sizes.insert(sizes.end(), {x, -x});
    for (std::size_t i = 0; i < numbers.q.size(); ++i)
      numbers.q[i] = sizes[static_cast<std::size_t>(random.whole(0, 25))] +
                     static_cast<float>(random.uniform(-1.0, 1.0));
    for (std::size_t i = 0; i < numbers.k.size(); ++i)
      numbers.k[i] = sizes[static_cast<std::size_t>(random.whole(0, 25))] +
                     static_cast<float>(random.uniform(-1.0, 1.0));
    check_scores(numbers);
    check_gradients(numbers);
  }
}

TEST_P(AdditiveOn, InfinityIsOneAndNanStaysWithItsPair) {
  for (const int channels : {1, 4, 19}) {
    Random random("additive specials");
    Numbers<float> numbers({40, 45, channels}, 2.0, random);
    const float special[] = {kInf, -kInf, kNan, 1e30f, -1e30f, 3.4e38f};
    // One key and one query in three gets a special number in one channel.
    for (int j = 0; j < 45; j += 3)
      numbers.k[static_cast<std::size_t>(j * channels + random.whole(0, channels - 1))] =
          special[random.whole(0, 5)];
    for (int i = 0; i < 40; i += 3)
      numbers.q[static_cast<std::size_t>(i * channels + random.whole(0, channels - 1))] =
          special[random.whole(0, 5)];
    check_scores(numbers);
  }
}

TEST_P(AdditiveOn, GradientsAreCloseToDoubleAtEverySpread) {
  for (const double spread : {0.1, 1.0, 3.0, 10.0, 30.0})
    for (const Sizes& size : {Sizes{1, 1, 1}, Sizes{5, 7, 3}, Sizes{24, 16, 17, 8},
                              Sizes{99, 141, 65, 3}, Sizes{25, 300, 256},
                              Sizes{.queries = 13,
                                    .keys = 21,
                                    .channels = 6,
                                    .values = 9,
                                    .batch = 2,
                                    .heads = 4,
                                    .kv_heads = 2}}) {
      SCOPED_TRACE("spread " + std::to_string(spread) + ", " + std::to_string(size.channels) +
                   " channels");
      Random random("additive gradients");
      Numbers<float> numbers(size, spread, random);
      check_gradients(numbers);
    }
}

TEST_P(AdditiveOn, MaskedPairsTakeNoPartWhateverTheyHold) {
  constexpr int kQueries = 27;
  constexpr int kKeys = 50;
  for (const float special : {kNan, kInf, 1e30f}) {
    Random random("additive masked");
    Numbers<float> numbers({kQueries, kKeys, 9}, 1.0, random);
    // Key 11 is seen by nobody, query 5 sees nothing, the rest is a random half.
    std::vector<unsigned char> keep(kQueries * kKeys);
    for (int i = 0; i < kQueries; ++i)
      for (int j = 0; j < kKeys; ++j)
        keep[static_cast<std::size_t>(i * kKeys + j)] =
            i != 5 && j != 11 && random.whole(0, 1) == 1 ? 1 : 0;
    numbers.recipe.masks.push_back(
        MaskTree::of(mask_stage(mask::Dense{.flags = keep.data(), .query_stride = kKeys})));
    Numbers<float> clean(numbers);
    check_gradients(clean);
    for (int c = 0; c < 9; ++c) {
      numbers.k[static_cast<std::size_t>(11 * 9 + c)] = special;
      numbers.q[static_cast<std::size_t>(5 * 9 + c)] = special;
    }
    forward(numbers.forward_args(), numbers.recipe, context());
    backward(numbers.backward_args(), numbers.recipe, numbers.grads(), context());
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_TRUE(test::close(a[i], b[i], test::tolerance(DType::f32))) << "at " << i;
    };
    same(numbers.out, clean.out);
    same(numbers.dq, clean.dq);
    same(numbers.dk, clean.dk);
    same(numbers.dv, clean.dv);
    for (std::size_t c = 0; c < numbers.dw.size(); ++c)
      EXPECT_TRUE(test::close(numbers.dw[c], clean.dw[c],
                              test::tolerance(DType::f32, kQueries * kKeys)));
  }
}

TEST_P(AdditiveOn, WeightsMayBeStrided) {
  Random random("additive strided");
  Numbers<float> numbers({20, 30, 7}, 1.0, random);
  Numbers<float> apart(numbers);
  std::vector<float> spaced(3 * apart.w.size());
  for (std::size_t c = 0; c < apart.w.size(); ++c) spaced[3 * c] = apart.w[c];
  apart.recipe.weights.data = spaced.data();
  apart.recipe.weights.strides[3] = 3;
  for (Numbers<float>* each : {&numbers, &apart}) {
    forward(each->forward_args(), each->recipe, context());
    backward(each->backward_args(), each->recipe, each->grads(), context());
  }
  EXPECT_EQ(numbers.out, apart.out);
  EXPECT_EQ(numbers.dq, apart.dq);
  EXPECT_EQ(numbers.dk, apart.dk);
  EXPECT_EQ(numbers.dw, apart.dw);
}

TEST_P(AdditiveOn, ThreadsDoNotChangeABit) {
  Random random("additive threads");
  Numbers<float> one({.queries = 200, .keys = 300, .channels = 33, .batch = 2}, 8.0, random);
  Numbers<float> three(one);
  forward(one.forward_args(), one.recipe, context(1));
  backward(one.backward_args(), one.recipe, one.grads(), context(1));
  forward(three.forward_args(), three.recipe, context(3));
  backward(three.backward_args(), three.recipe, three.grads(), context(3));
  EXPECT_EQ(one.out, three.out);
  EXPECT_EQ(one.stat, three.stat);
  EXPECT_EQ(one.dq, three.dq);
  EXPECT_EQ(one.dk, three.dk);
  EXPECT_EQ(one.dv, three.dv);
  EXPECT_EQ(one.dw, three.dw);
}

INSTANTIATE_TEST_SUITE_P(Sets, AdditiveOn, testing::ValuesIn(kBuiltTargets),
                         [](const testing::TestParamInfo<Target>& set) {
                           return std::string(name_of(set.param));
                         });

}  // namespace
}  // namespace attn::cpu
