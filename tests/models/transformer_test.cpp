// The Transformer: the laws of models for every kind of position, copying, learning.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/kinds.hpp"
#include "models/support/batches.hpp"
#include "models/support/laws.hpp"

namespace attn::models {
namespace {

ModelOptions tiny(Positions positions, Tie tie, Copy copy = Copy::none) {
  ModelOptions options = test::tiny(Kind::transformer);
  options.positions = positions;
  options.tie = tie;
  options.copy = copy;
  return options;
}

TEST(Transformer, KeepsTheLawsOfModels) {
  test::expect_model_laws(make_transformer, tiny(Positions::sinusoidal, Tie::none));
  test::expect_model_laws(make_transformer, tiny(Positions::rotary, Tie::output));
  test::expect_model_laws(make_transformer, tiny(Positions::relative, Tie::all));
  test::expect_model_laws(make_transformer, tiny(Positions::none, Tie::none));
}

TEST(Transformer, KeepsTheLawsWhenItCopies) {
  test::expect_model_laws(make_transformer, tiny(Positions::rotary, Tie::all, Copy::pointer));
  test::expect_model_laws(make_transformer, tiny(Positions::rotary, Tie::all, Copy::coverage));
}

ModelOptions learning(Positions positions, Tie tie, Copy copy = Copy::none) {
  ModelOptions options = tiny(positions, tie, copy);
  options.dim = 32;
  options.feed_forward = 64;
  options.dropout = 0.0;
  return options;
}

/// Who does not see the source cannot do better than log 5 a token: letters and lengths are
/// drawn from five each.
TEST(Transformer, LearnsToReverse) {
  const double blind = std::log(5.0);
  for (const Positions positions :
       {Positions::sinusoidal, Positions::rotary, Positions::relative})
    EXPECT_LT(test::learnt_loss(make_transformer, learning(positions, Tie::output),
                                test::reversed, {.rate = 0.003}),
              blind / 2)
        << static_cast<int>(positions);
}

TEST(Transformer, LearnsToCopyWithAPointer) {
  EXPECT_LT(test::learnt_loss(make_transformer,
                              learning(Positions::sinusoidal, Tie::all, Copy::pointer),
                              test::same, {.rate = 0.003}),
            0.3);
}

/// Letters in another order give the same loss where positions are left out, and there alone.
TEST(Transformer, WithoutPositionsTheSourceIsABagOfWords) {
  const test::Tokens target = {8, 4, 5};
  for (const Positions positions :
       {Positions::sinusoidal, Positions::rotary, Positions::relative, Positions::none}) {
    const auto model = test::model_laws::used(make_transformer, tiny(positions, Tie::none));
    const double plain =
        test::model_laws::loss_of(*model, test::batch_of({{{4, 5, 6, 7}, target}}));
    const double mixed =
        test::model_laws::loss_of(*model, test::batch_of({{{7, 4, 6, 5}, target}}));
    EXPECT_EQ(test::close(mixed, plain, test::model_laws::kWithin),
              positions == Positions::none)
        << static_cast<int>(positions) << ": " << plain << ", " << mixed;
  }
}

/// What depends on the bag alone is learnt without positions.
TEST(Transformer, LearnsToSortWithoutPositions) {
  const auto sorted = [](test::Tokens word) {
    std::sort(word.begin(), word.end());
    return word;
  };
  EXPECT_LT(test::learnt_loss(make_transformer, learning(Positions::none, Tie::output), sorted,
                              {.rate = 0.003}),
            std::log(5.0) / 2);
}

/// Longer than the first memory of the past, rows changing places all the while.
TEST(Transformer, ALongDecodingIsTheSameInAnyRow) {
  const auto model =
      test::model_laws::used(make_transformer, tiny(Positions::rotary, Tie::output));
  const Batch batch = test::batch_of({{{4, 5, 6}, {}}, {{7, 8}, {}}});
  const auto plain = model->decode(batch.source, batch.source_lengths);
  const auto moved = model->decode(batch.source, batch.source_lengths);
  test::Tokens rows = {0, 1};
  for (std::int64_t step = 0; step < 40; ++step) {
    const test::Tokens read = {4 + step % 5, 4 + step % 3};
    test::Tokens tokens;
    for (const std::int64_t row : rows) tokens.push_back(read[static_cast<std::size_t>(row)]);
    const auto count = static_cast<std::int64_t>(rows.size());
    const Prediction want = plain->step(Tensor::from(read, {2}));
    const Prediction got = moved->step(Tensor::from(tokens, {count}));
    SCOPED_TRACE("step " + std::to_string(step));
    test::model_laws::expect_rows(got.log_probabilities, want.log_probabilities, rows);
    test::model_laws::expect_rows(got.weights, want.weights, rows);
    // Swap, spread, narrow.
    const test::Tokens choice = step % 3 == 0   ? test::Tokens{1, 0}
                                : step % 3 == 1 ? test::Tokens{0, 0, 1, 1}
                                                : test::Tokens{3, 1};
    moved->select(Tensor::from(choice, {static_cast<std::int64_t>(choice.size())}));
    test::Tokens next;
    for (const std::int64_t row : choice) next.push_back(rows[static_cast<std::size_t>(row)]);
    rows = next;
  }
}

/// What a row reads is its own, though rows of a source share their memory and their past.
TEST(Transformer, RowsOfASourceGoTheirOwnWays) {
  const auto model =
      test::model_laws::used(make_transformer, tiny(Positions::relative, Tie::output));
  const Batch batch = test::batch_of({{{4, 5, 6}, {}}});
  // The paths that the rows have in the end, and where each step's rows come from.
  const std::vector<test::Tokens> paths = {
      {1, 4, 5, 8, 4}, {1, 4, 6, 4, 5}, {1, 7, 5, 5, 6}, {1, 4, 6, 4, 7}};
  const std::vector<test::Tokens> parents = {
      {}, {0, 0, 0, 0}, {0, 1, 2, 3}, {0, 1, 2, 1}, {0, 3, 2, 1}};
  const auto together = model->decode(batch.source, batch.source_lengths);
  Prediction got;
  for (std::size_t step = 0; step < parents.size(); ++step) {
    if (step > 0) together->select(Tensor::from(parents[step], {4}));
    test::Tokens tokens;
    for (const test::Tokens& path : paths) tokens.push_back(path[step]);
    if (step == 0) tokens = {kBos};
    got = together->step(Tensor::from(tokens, {static_cast<std::int64_t>(tokens.size())}));
  }
  for (std::size_t row = 0; row < paths.size(); ++row) {
    const auto alone = model->decode(batch.source, batch.source_lengths);
    Prediction want;
    for (const std::int64_t token : paths[row])
      want = alone->step(Tensor::from(test::Tokens{token}, {1}));
    const auto index = static_cast<std::int64_t>(row);
    SCOPED_TRACE("row " + std::to_string(row));
    test::model_laws::expect_rows(got.log_probabilities.slice(0, index, index + 1),
                                  want.log_probabilities, {0});
  }
}

TEST(Transformer, WrongUseIsToldSo) {
  ModelOptions options = tiny(Positions::rotary, Tie::output);
  const auto model = make_transformer(options);
  const Batch batch = test::batch_of(test::some_pairs());
  EXPECT_THROW(model->decode(batch.source, batch.input), InvalidArgument);
  const auto decoding = model->decode(batch.source, batch.source_lengths);
  EXPECT_THROW(decoding->step(Tensor::zeros({2}, DType::i64)), InvalidArgument);
  EXPECT_THROW(decoding->select(Tensor::from(test::Tokens{3}, {1})), InvalidArgument);
  options.heads = 3;
  EXPECT_THROW(make_transformer(options), InvalidArgument);
}

}  // namespace
}  // namespace attn::models
