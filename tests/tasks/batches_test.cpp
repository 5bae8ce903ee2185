#include "attn/tasks/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/tasks/corpus.hpp"
#include "tasks/support/toy.hpp"

namespace attn::tasks {
namespace {

std::vector<EncodedPair> pairs_of_many_lengths() {
  std::vector<EncodedPair> pairs;
  for (std::int64_t i = 0; i < 500; ++i) {
    const auto source = static_cast<std::size_t>(1 + i * 7 % 30);
    const auto target = static_cast<std::size_t>(1 + i * 11 % 20);
    pairs.push_back(
        {std::vector<std::int64_t>(source, 5), std::vector<std::int64_t>(target, 6)});
  }
  return pairs;
}

TEST(Batches, HoldEveryPairOnceAndStayInTheirBudget) {
  const auto pairs = pairs_of_many_lengths();
  std::vector<int> seen(pairs.size());
  for (const Rows& rows : make_batches(pairs, 400, 1, 0)) {
    std::size_t source = 0;
    std::size_t target = 0;
    for (const std::int64_t row : rows) {
      const EncodedPair& pair = pairs[static_cast<std::size_t>(row)];
      ++seen[static_cast<std::size_t>(row)];
      source = std::max(source, pair.source.size());
      target = std::max(target, pair.target.size() + 1);
    }
    EXPECT_LE(rows.size() * (source + target), 400u);
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

TEST(Batches, DependOnSeedAndEpochAlone) {
  const auto pairs = pairs_of_many_lengths();
  EXPECT_EQ(make_batches(pairs, 400, 1, 3), make_batches(pairs, 400, 1, 3));
  EXPECT_NE(make_batches(pairs, 400, 1, 3), make_batches(pairs, 400, 1, 4));
  EXPECT_NE(make_batches(pairs, 400, 1, 3), make_batches(pairs, 400, 2, 3));
}

TEST(Batches, APairLongerThanTheBudgetIsABatchOfItsOwn) {
  const std::vector<EncodedPair> pairs{{std::vector<std::int64_t>(50, 4), {4}}, {{4}, {4}}};
  const auto batches = make_batches(pairs, 10, 1, 0);
  EXPECT_EQ(batches.size(), 2u);
}

TEST(Batches, CollatePadsAndShiftsTheTarget) {
  const std::vector<EncodedPair> pairs{{{7, 8, models::kEos}, {5}},
                                       {{9, models::kEos}, {5, 6}}};
  const models::Batch batch = collate(pairs, {0, 1});
  EXPECT_EQ(batch.source.to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{7, 8, 2, 9, 2, 0}));
  EXPECT_EQ(batch.source_lengths.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(batch.input.to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{1, 5, 0, 1, 5, 6}));
  EXPECT_EQ(batch.target.to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{5, 2, 0, 5, 6, 2}));
}

TEST(EncodePairs, DropsOrCutsWhatIsTooLong) {
  const PairModel model = toy::model();
  const std::vector<Example> examples{{"1", "abcdabcdab", {"a b"}},  // ten letters
                                      {"2", "ab", {"a a a a a a a a a a"}},
                                      {"3", "ab", {"b a"}},
                                      {"4", "", {"b a"}}};
  const Limits limits{.source = 8, .target = 8};
  const auto dropped =
      encode_pairs(examples, model.source, model.target, limits, Overlong::drop);
  EXPECT_EQ(dropped.pairs.size(), 1u);
  EXPECT_EQ(dropped.dropped, 3);
  const auto cut = encode_pairs(examples, model.source, model.target, limits, Overlong::cut);
  ASSERT_EQ(cut.pairs.size(), 2u);
  EXPECT_EQ(cut.pairs[0].source.size(), 9u) << "eight letters and the end";
}

TEST(EncodePairs, MakesAPairOfEachRightTarget) {
  const PairModel model = toy::model();
  const std::vector<Example> examples{{"1", "ab", {"a b", "b a"}}, {"2", "b", {"b"}}};
  const auto encoded =
      encode_pairs(examples, model.source, model.target, {8, 8}, Overlong::drop);
  ASSERT_EQ(encoded.pairs.size(), 3u);
  EXPECT_EQ(encoded.pairs[0].source, encoded.pairs[1].source);
  EXPECT_EQ(encoded.pairs[1].target, model.target.encode("b a"));
}

}  // namespace
}  // namespace attn::tasks
