// Laws of attention that hold for every kernel: empty rows, padding, order, huge scores, NaN.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/dense.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/pool/state.hpp"
#include "kernels/support/edit.hpp"
#include "kernels/support/inputs.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using test::NormaliserKind;

/// A problem of two kv heads; few queries take the decoding path, many the tiled one.
test::Spec plain(int queries, int keys, const std::string& seed) {
  return {.seed = seed,
          .batch = 2,
          .kv_heads = 2,
          .queries = queries,
          .keys = keys,
          .channels = 6,
          .value_channels = 5};
}

void mask_lengths(test::Problem& p, std::vector<int> per_query) {
  auto& lengths = p.numbers.emplace_back(std::move(per_query));
  p.recipe.masks.push_back(
      MaskTree::of(mask_stage(mask::Lengths{lengths.data(), 0, lengths.size() > 1 ? 1 : 0})));
}

bool all_zero(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 0.0; });
}
bool all_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}
bool all_finite(const test::Results& r) {
  for (const auto& table : r.tables)
    if (!all_finite(table)) return false;
  return all_finite(r.out) && all_finite(r.dq) && all_finite(r.dk) && all_finite(r.dv);
}

/// The statistic that a row without keys has.
double empty_stat(const test::Problem& p, int head) {
  switch (p.spec.normaliser) {
    case NormaliserKind::softmax:
      return -INFINITY;
    case NormaliserKind::sink:
      return p.tables.back().f64[static_cast<std::size_t>(head)];
    case NormaliserKind::hard_max:
    case NormaliserKind::hard_sample:
      return -1.0;
    case NormaliserKind::sparsemax:
      return INFINITY;
    default:
      return 0.0;
  }
}

TEST(AttentionLaws, ARowWithoutKeysIsZeroWithZeroGradientsOnEveryPath) {
  for (const Target target : test::targets())
    for (int kind = 0; kind < test::kNormaliserKinds; ++kind)
      for (const int queries : {3, 40})
        for (const int keys : {0, 7, 150}) {
          test::Spec spec = plain(queries, keys, "empty rows");
          spec.normaliser = static_cast<NormaliserKind>(kind);
          test::Problem p(spec);
          std::vector<int> lengths(static_cast<std::size_t>(queries));
          for (std::size_t i = 0; i < lengths.size(); i += 2) lengths[i] = keys;
          mask_lengths(p, lengths);
          const test::Results r = test::run_cpu(p, {.target = target});
          ASSERT_TRUE(all_finite(r)) << name_of(target) << ", normaliser " << kind;
          for (std::size_t row = 0; row < r.stat.size(); ++row) {
            const std::size_t i = row % static_cast<std::size_t>(queries);
            if (lengths[i] > 0) continue;
            const int head = static_cast<int>(row) / queries % 2;
            EXPECT_TRUE(
                test::close(r.stat[row], empty_stat(p, head), test::tolerance(DType::f32)))
                << name_of(target) << ", normaliser " << kind << ", row " << row;
            for (std::size_t c = 0; c < 5; ++c) ASSERT_EQ(r.out[row * 5 + c], 0.0);
            for (std::size_t c = 0; c < 6; ++c) ASSERT_EQ(r.dq[row * 6 + c], 0.0);
          }
          test::Inputs<float> inputs(p, test::Lay::packed, test::Lay::packed,
                                     test::Lay::packed);
          test::Strided<float> weights(p.weights_shape(), test::Lay::packed);
          cpu::weights(inputs.forward_args(false), p.recipe, weights.view(),
                       {.target = target});
          const std::vector<double> w = weights.values();
          for (std::size_t i = 0; i < w.size(); ++i) {
            const std::size_t query =
                i / static_cast<std::size_t>(keys) % static_cast<std::size_t>(queries);
            if (lengths[query] == 0) {
              ASSERT_EQ(w[i], 0.0);
            }
          }
          mask_lengths(p, {0});
          const test::Results none = test::run_cpu(p, {.target = target});
          EXPECT_TRUE(all_zero(none.out) && all_zero(none.dq) && all_zero(none.dk) &&
                      all_zero(none.dv));
        }
}

/// Keys behind the valid ones, whatever they hold, change neither results nor gradients.
std::string padding_changes_nothing(const test::Spec& spec, double garbage, int extra) {
  test::Spec longer = spec;
  longer.keys += extra;
  test::Problem alone(spec), padded(longer);
  const int m = spec.keys, c = spec.channels, d = spec.value_channels;
  padded.q = alone.q;
  padded.d_out = alone.d_out;
  test::copy_rows(alone.k, m, 0, padded.k, m + extra, 0, m, c);
  test::copy_rows(alone.v, m, 0, padded.v, m + extra, 0, m, d);
  if (garbage != 0.0) {
    test::fill_rows(padded.k, m + extra, m, extra, std::max(1, c), garbage);
    test::fill_rows(padded.v, m + extra, m, extra, d, garbage);
  }
  mask_lengths(padded, {m});
  const test::Results want = test::run_cpu(alone);
  test::Results got = test::run_cpu(padded);
  std::string wrong;
  if (!all_zero(test::take_rows(got.dk, m + extra, m, extra, c)))
    wrong += "dk of padding is not zero; ";
  if (!all_zero(test::take_rows(got.dv, m + extra, m, extra, d)))
    wrong += "dv of padding is not zero; ";
  got.dk = test::take_rows(got.dk, m + extra, 0, m, c);
  got.dv = test::take_rows(got.dv, m + extra, 0, m, d);
  return wrong + test::difference(alone, got, want);
}

TEST(AttentionLaws, PaddingChangesNothingWhateverItHolds) {
  for (int similarity = 0; similarity < 5; ++similarity)
    for (const int queries : {4, 50})
      for (const DType dtype : {DType::f32, DType::bf16})
        for (const double garbage :
             {0.0, 1e30, double{NAN}, double{INFINITY}, -double{INFINITY}})
          for (const int extra : {1, 20, 300}) {
            test::Spec spec = plain(queries, 21, "padding");
            spec.dtype = dtype;
            spec.similarity = static_cast<Similarity>(similarity);
            spec.width = test::WidthKind::channel;
            if (spec.similarity == Similarity::sum) spec.channels = 1;
            EXPECT_EQ(padding_changes_nothing(spec, garbage, extra), "")
                << "similarity " << similarity << ", queries " << queries << ", "
                << name_of(dtype) << ", garbage " << garbage << ", extra " << extra;
          }
}

TEST(AttentionLaws, PaddingChangesNothingUnderAnyNormaliser) {
  for (int kind = 0; kind < test::kNormaliserKinds; ++kind)
    for (const int queries : {4, 50})
      for (const double garbage : {0.0, double{NAN}, double{INFINITY}}) {
        test::Spec spec = plain(queries, 21, "padding normaliser");
        spec.normaliser = static_cast<NormaliserKind>(kind);
        EXPECT_EQ(padding_changes_nothing(spec, garbage, 130), "")
            << "normaliser " << kind << ", queries " << queries << ", garbage " << garbage;
      }
}

TEST(AttentionLaws, QueriesThatSeeNothingChangeNothingWhateverTheyHold) {
  for (int similarity = 0; similarity < 5; ++similarity)
    for (const double garbage : {1e30, double{NAN}, double{INFINITY}}) {
      test::Spec spec = plain(40, 33, "padded queries");
      spec.similarity = static_cast<Similarity>(similarity);
      spec.width = test::WidthKind::channel;
      if (spec.similarity == Similarity::sum) spec.channels = 1;
      test::Problem clean(spec), dirty(spec);
      std::vector<int> lengths(40, 33);
      std::fill(lengths.begin() + 30, lengths.end(), 0);
      mask_lengths(clean, lengths);
      mask_lengths(dirty, lengths);
      test::fill_rows(dirty.q, 40, 30, 10, spec.channels, garbage);
      test::fill_rows(dirty.d_out, 40, 30, 10, spec.value_channels, garbage);
      EXPECT_EQ(test::difference(clean, test::run_cpu(dirty), test::run_cpu(clean)), "")
          << "similarity " << similarity << ", garbage " << garbage;
    }
}

TEST(AttentionLaws, MergedPartsOfTheKeysAreTheWhole) {
  constexpr int kKeys = test::kManyKeys;
  for (const int queries : {3, 40}) {
    const test::Problem whole(plain(queries, kKeys, "chunks"));
    const test::Results want = test::run_cpu(whole);
    for (const int cut : {0, 1, 128, kKeys - 1, kKeys}) {
      test::Problem a(plain(queries, cut, "a")), b(plain(queries, kKeys - cut, "b"));
      a.q = b.q = whole.q;
      a.k = test::take_rows(whole.k, kKeys, 0, cut, 6);
      a.v = test::take_rows(whole.v, kKeys, 0, cut, 5);
      b.k = test::take_rows(whole.k, kKeys, cut, kKeys - cut, 6);
      b.v = test::take_rows(whole.v, kKeys, cut, kKeys - cut, 5);
      const test::Results from_a = test::run_cpu(a), from_b = test::run_cpu(b);
      std::vector<double> out(want.out.size()), stat(want.stat.size());
      for (std::size_t row = 0; row < stat.size(); ++row)
        stat[row] = pool::merge(from_a.stat[row], from_a.out.data() + 5 * row, from_b.stat[row],
                                from_b.out.data() + 5 * row, 5, out.data() + 5 * row);
      const double within = test::tolerance(DType::f32, kKeys);
      EXPECT_EQ(test::difference("out", out, want.out, within), "") << "cut " << cut;
      EXPECT_EQ(test::difference("stat", stat, want.stat, within), "") << "cut " << cut;
    }
  }
}

TEST(AttentionLaws, TheOrderOfTheKeysDoesNotMatter) {
  constexpr int kKeys = test::kManyKeys;
  for (const NormaliserKind kind :
       {NormaliserKind::softmax, NormaliserKind::mean, NormaliserKind::summed_sigmoid,
        NormaliserKind::sparsemax}) {
    test::Spec spec = plain(30, kKeys, "order");
    spec.normaliser = kind;
    const test::Problem p(spec);
    test::Problem mixed(spec);
    std::vector<int> order(kKeys);
    std::iota(order.begin(), order.end(), 0);
    test::Random("order of keys").shuffle(order);
    test::Results want = test::run_cpu(p);
    const test::Results straight = want;
    for (int j = 0; j < kKeys; ++j) {
      const int from = order[static_cast<std::size_t>(j)];
      test::copy_rows(p.k, kKeys, from, mixed.k, kKeys, j, 1, 6);
      test::copy_rows(p.v, kKeys, from, mixed.v, kKeys, j, 1, 5);
      test::copy_rows(straight.dk, kKeys, from, want.dk, kKeys, j, 1, 6);
      test::copy_rows(straight.dv, kKeys, from, want.dv, kKeys, j, 1, 5);
    }
    EXPECT_EQ(test::difference(p, test::run_cpu(mixed), want), "")
        << "normaliser " << static_cast<int>(kind);
  }
}

TEST(AttentionLaws, AScoreOfMinusInfinityIsMasked) {
  for (int kind = 0; kind < test::kNormaliserKinds; ++kind)
    for (const int queries : {3, 40}) {
      test::Spec spec = plain(queries, 37, "minus infinity");
      spec.normaliser = static_cast<NormaliserKind>(kind);
      spec.scores = {{test::ScoreKind::bias, test::Sharing::query_only}};
      test::Problem masked(spec), biased(spec);
      test::Random random("which are masked");
      auto& flags = masked.flags.emplace_back();
      for (int i = 0; i < queries * 37; ++i)
        flags.push_back(i / 37 != 1 && random.whole(0, 2) > 0 ? 1 : 0);
      masked.recipe.masks.push_back(
          MaskTree::of(mask_stage(mask::Dense{flags.data(), 0, 0, 37, 1})));
      for (std::size_t i = 0; i < flags.size(); ++i)
        if (flags[i] == 0) biased.tables[0].f32[i] = -INFINITY;
      EXPECT_EQ(test::difference(masked, test::run_cpu(biased), test::run_cpu(masked)), "")
          << "normaliser " << kind << ", queries " << queries;
    }
}

TEST(AttentionLaws, AScoreThatIsNoNumberSpoilsItsOwnRowAlone) {
  constexpr int kKeys = test::kManyKeys;
  for (const Target target : test::targets())
    for (const NormaliserKind kind :
         {NormaliserKind::softmax, NormaliserKind::sink, NormaliserKind::identity,
          NormaliserKind::mean, NormaliserKind::sigmoid, NormaliserKind::summed_sigmoid,
          NormaliserKind::sparsemax, NormaliserKind::hard_max})
      for (const int queries : {3, 60})
        for (const double bad : {double{NAN}, double{INFINITY}}) {
          test::Spec spec = plain(queries, kKeys, "poison");
          spec.normaliser = kind;
          spec.scores = {{test::ScoreKind::bias, test::Sharing::query_only}};
          const test::Problem clean(spec);
          test::Problem bad_one(spec);
          bad_one.tables.front().f32[std::size_t{2} * kKeys + 111] = static_cast<float>(bad);
          const test::Results want = test::run_cpu(clean, {.target = target});
          const test::Results got = test::run_cpu(bad_one, {.target = target});
          const bool streams =
              kind != NormaliserKind::sparsemax && kind != NormaliserKind::hard_max;
          for (std::size_t i = 0; i < got.out.size(); ++i) {
            const bool own = i / 5 % static_cast<std::size_t>(queries) == 2;
            if (!own) {
              ASSERT_EQ(got.out[i], want.out[i]) << "normaliser " << static_cast<int>(kind);
            } else if (streams && std::isnan(bad)) {
              ASSERT_FALSE(std::isfinite(got.out[i]))
                  << name_of(target) << ", normaliser " << static_cast<int>(kind)
                  << ", queries " << queries;
            }
          }
        }
}

TEST(AttentionLaws, HugeScoresStayFinite) {
  for (const Target target : test::targets())
    for (int kind = 0; kind < test::kNormaliserKinds; ++kind)
      for (const int queries : {3, 40}) {
        test::Spec spec = plain(queries, 50, "huge scores");
        spec.similarity = Similarity::cosine;
        spec.normaliser = static_cast<NormaliserKind>(kind);
        test::Problem p(spec);
        p.recipe.scale = 5000.0f;
        EXPECT_TRUE(all_finite(test::run_cpu(p, {.target = target})))
            << name_of(target) << ", normaliser " << kind << ", queries " << queries;
      }
}

TEST(AttentionLaws, CausalIsBottomRightUnlessAskedOtherwise) {
  for (const auto& [queries, keys] : {std::pair{3, 7}, {40, 70}, {70, 40}}) {
    for (const bool top_left : {false, true}) {
      test::Problem p(plain(queries, keys, "causal"));
      std::fill(p.q.begin(), p.q.end(), 0.0);  // equal scores: the mean of what is seen
      for (std::size_t i = 0; i < p.v.size(); ++i)
        p.v[i] = static_cast<double>(static_cast<int>(i) / 5 % keys);
      const mask::Causal mask =
          top_left ? mask::Causal::top_left() : mask::Causal::bottom_right(queries, keys);
      p.recipe.masks.push_back(MaskTree::of(mask_stage(mask)));
      const test::Results r = test::run_cpu(p);
      for (std::size_t i = 0; i < r.out.size(); ++i) {
        const int query = static_cast<int>(i) / 5 % queries;
        const int last = std::min(keys - 1, top_left ? query : query + keys - queries);
        const double want = last < 0 ? 0.0 : last / 2.0;
        ASSERT_TRUE(test::close(r.out[i], want, test::tolerance(DType::f32, keys)))
            << "query " << query << " of " << queries << ", " << keys << " keys";
      }
    }
  }
}

TEST(AttentionLaws, SharedKeysAreRepeatedKeys) {
  for (const int queries : {2, 60}) {
    test::Spec spec = plain(queries, 45, "grouped");
    spec.group = 3;
    const test::Problem grouped(spec);
    spec.kv_heads = 6;
    spec.group = 1;
    test::Problem repeated(spec);
    repeated.q = grouped.q;
    repeated.d_out = grouped.d_out;
    const auto repeat = [](const std::vector<double>& from, std::vector<double>& to,
                           std::size_t head) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i / head / 3 * head + i % head];
    };
    repeat(grouped.k, repeated.k, 45 * 6);
    repeat(grouped.v, repeated.v, 45 * 5);
    test::Results got = test::run_cpu(repeated);
    const auto sum = [](const std::vector<double>& from, std::size_t head) {
      std::vector<double> to(from.size() / 3);
      for (std::size_t i = 0; i < from.size(); ++i)
        to[i / head / 3 * head + i % head] += from[i];
      return to;
    };
    got.dk = sum(got.dk, 45 * 6);
    got.dv = sum(got.dv, 45 * 5);
    EXPECT_EQ(test::difference(grouped, got, test::run_cpu(grouped)), "") << queries;
  }
}

}  // namespace
}  // namespace attn
