#include "attn/models/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/kinds.hpp"
#include "models/support/batches.hpp"
#include "models/support/laws.hpp"
#include "models/support/oracle.hpp"
#include "support/tolerance.hpp"

namespace attn::models {
namespace {

using test::Tokens;

constexpr std::size_t kWords = 6;  // of which kUnknown, 4 and 5 may be said, and kEos

test::Oracle hashed_oracle() {
  return test::Oracle([](std::int64_t source, const Tokens& prefix) {
    return test::hashed_belief(source, prefix, kWords);
  });
}

/// Sources of one word each.
std::vector<std::vector<Hypothesis>> answers(const Seq2Seq& model, const Tokens& sources,
                                             const SearchOptions& options) {
  const auto rows = static_cast<std::int64_t>(sources.size());
  return search(model, Tensor::from(sources, {rows, 1}),
                Tensor::from(Tokens(sources.size(), 1), {rows}), options);
}

/// Every hypothesis of at most `max_length` tokens and kEos.
void every_hypothesis(std::int64_t source, const Tokens& prefix, double log_probability,
                      const SearchOptions& options, std::vector<Hypothesis>& into) {
  const auto next = test::hashed_belief(source, prefix, kWords);
  const auto said = static_cast<double>(prefix.size() - 1);
  const double ended = log_probability + static_cast<double>(next[kEos]);
  Hypothesis found;
  found.tokens.assign(prefix.begin() + 1, prefix.end());
  found.score = ended / std::pow((5.0 + said) / 6.0, options.length_penalty);
  into.push_back(found);
  if (static_cast<std::int64_t>(prefix.size()) > options.max_length) return;
  for (const std::int64_t token : {3, 4, 5}) {
    Tokens longer = prefix;
    longer.push_back(token);
    every_hypothesis(
        source, longer,
        log_probability + static_cast<double>(next[static_cast<std::size_t>(token)]), options,
        into);
  }
}

TEST(Search, AWideBeamIsExhaustive) {
  const test::Oracle oracle = hashed_oracle();
  for (const double penalty : {0.0, 0.6, 1.5}) {
    const SearchOptions options{
        .beam = 130, .best = 12, .length_penalty = penalty, .max_length = 4};
    const auto found = answers(oracle, {4, 5, 6, 7}, options);
    for (std::int64_t source = 4; source < 8; ++source) {
      std::vector<Hypothesis> all;
      every_hypothesis(source, {kBos}, 0.0, options, all);
      std::sort(all.begin(), all.end(),
                [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
      const auto& got = found[static_cast<std::size_t>(source - 4)];
      ASSERT_EQ(got.size(), 12u);
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].tokens, all[i].tokens)
            << "source " << source << ", rank " << i << ", penalty " << penalty;
        EXPECT_TRUE(test::close(got[i].score, all[i].score, test::tolerance(DType::f64, 16)));
        EXPECT_TRUE(got[i].finished);
      }
    }
  }
}

TEST(Search, MoreAnswersChangeNoneOfTheFirst) {
  const test::Oracle oracle = hashed_oracle();
  Tokens sources(200);
  std::iota(sources.begin(), sources.end(), 4);
  for (const Choice choice : {Choice::likeliest, Choice::consensus}) {
    SearchOptions options{.beam = 4, .best = 4, .max_length = 12, .choice = choice};
    const auto all = answers(oracle, sources, options);
    for (options.best = 1; options.best < 4; ++options.best) {
      const auto few = answers(oracle, sources, options);
      for (std::size_t i = 0; i < sources.size(); ++i)
        for (std::size_t rank = 0; rank < few[i].size(); ++rank)
          EXPECT_EQ(few[i][rank].tokens, all[i].at(rank).tokens)
              << "source " << sources[i] << ", rank " << rank << " of " << options.best;
    }
  }
}

TEST(Search, ABeamOfOneIsGreedy) {
  const test::Oracle oracle = hashed_oracle();
  const SearchOptions options{.max_length = 5};
  const auto found = answers(oracle, {4, 5, 6, 7, 8, 9}, options);
  for (std::int64_t source = 4; source < 10; ++source) {
    Tokens prefix = {kBos};
    bool finished = false;
    while (!finished && static_cast<std::int64_t>(prefix.size()) <= options.max_length + 1) {
      const auto next = test::hashed_belief(source, prefix, kWords);
      const auto word = std::max_element(next.begin() + kEos, next.end()) - next.begin();
      finished = word == kEos;
      prefix.push_back(word);
    }
    const Hypothesis& got = found[static_cast<std::size_t>(source - 4)].front();
    EXPECT_EQ(got.tokens, Tokens(prefix.begin() + 1, prefix.end() - 1)) << "source " << source;
    EXPECT_EQ(got.finished, finished) << "source " << source;
  }
}

/// A wider beam finds what greedy search misses: the first word is worse, the end much better.
TEST(Search, ABeamSeesPastABadStart) {
  const test::Oracle oracle([](std::int64_t, const Tokens& prefix) {
    std::vector<float> logits(kWords, -9.0f);
    if (prefix.size() == 1) {
      logits[3] = 0.0f;
      logits[4] = -0.1f;
    } else if (prefix[1] == 4) {
      logits[kEos] = 5.0f;
    } else {
      std::fill(logits.begin(), logits.end(), 0.0f);
    }
    return test::normalised(logits);
  });
  EXPECT_EQ(answers(oracle, {4}, {.beam = 2})[0][0].tokens, (Tokens{4}));
  EXPECT_NE(answers(oracle, {4}, {.beam = 1})[0][0].tokens, (Tokens{4}));
}

TEST(Search, EqualsAreTakenInOrder) {
  const test::Oracle oracle([](std::int64_t, const Tokens& prefix) {
    std::vector<float> logits(kWords, 0.0f);
    logits[kEos] = prefix.size() < 3 ? -50.0f : 50.0f;
    return test::normalised(logits);
  });
  const auto found = answers(oracle, {4}, {.beam = 4, .best = 4})[0];
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].tokens, (Tokens{3, 3}));
  EXPECT_EQ(found[1].tokens, (Tokens{3, 4}));
  EXPECT_EQ(found[2].tokens, (Tokens{3, 5}));
  EXPECT_EQ(found[3].tokens, (Tokens{4, 3}));
}

TEST(Search, MarksAreNeverSaid) {
  const test::Oracle oracle([](std::int64_t, const Tokens&) {
    return test::normalised({5.0f, 5.0f, -1.0f, -1.0f, 1.0f, 0.0f});
  });
  for (const SearchOptions& options :
       {SearchOptions{.max_length = 6}, SearchOptions{.beam = 4, .best = 4, .max_length = 6},
        SearchOptions{.max_length = 6, .temperature = 2.0}}) {
    const auto found = answers(oracle, {4}, options)[0];
    ASSERT_FALSE(found.empty());
    for (const Hypothesis& one : found)
      for (const std::int64_t token : one.tokens) EXPECT_GT(token, kEos);
  }
}

/// Whether `length` tokens in a row are there twice.
bool repeats(const Tokens& tokens, std::ptrdiff_t length) {
  for (auto one = tokens.begin(); one + length < tokens.end(); ++one)
    for (auto other = one + 1; other + length <= tokens.end(); ++other)
      if (std::equal(one, one + length, other)) return true;
  return false;
}

TEST(Search, NothingIsSaidTwiceWhereThatIsAskedFor) {
  // Says 4 5 4 5 ... for ever, if it may.
  const test::Oracle stubborn([](std::int64_t, const Tokens& prefix) {
    std::vector<float> logits(kWords, 0.0f);
    logits[prefix.back() == 4 ? 5 : 4] = 9.0f;
    logits[kEos] = -3.0f;
    return test::normalised(logits);
  });
  ASSERT_TRUE(repeats(answers(stubborn, {4}, {.max_length = 12})[0][0].tokens, 4));
  const test::Oracle hashed = hashed_oracle();
  for (const std::int64_t length : {1, 2, 3, 4}) {
    for (const SearchOptions& options :
         {SearchOptions{.max_length = 12, .no_repeat = length},
          SearchOptions{.beam = 5, .best = 5, .max_length = 12, .no_repeat = length},
          SearchOptions{.max_length = 12, .no_repeat = length, .temperature = 2.0}}) {
      for (const test::Oracle* oracle : {&stubborn, &hashed})
        for (const auto& found : answers(*oracle, {4, 5, 6, 7}, options)) {
          ASSERT_FALSE(found.empty());
          for (const Hypothesis& one : found)
            EXPECT_FALSE(repeats(one.tokens, length)) << "of " << length;
        }
    }
  }
}

TEST(Search, NothingChangesWhereNothingWouldBeSaidTwice) {
  const test::Oracle oracle = hashed_oracle();
  SearchOptions options{.beam = 4, .best = 4, .max_length = 5};
  const auto as_it_was = answers(oracle, {4, 5, 6, 7}, options);
  options.no_repeat = 6;
  const auto with = answers(oracle, {4, 5, 6, 7}, options);
  for (std::size_t source = 0; source < with.size(); ++source)
    for (std::size_t i = 0; i < with[source].size(); ++i)
      EXPECT_EQ(with[source][i].tokens, as_it_was[source][i].tokens);
}

/// The likeliest answer stands alone; three less likely ones say nearly the same.
TEST(Search, AConsensusIsWhatMostSay) {
  const test::Oracle oracle([](std::int64_t, const Tokens& prefix) {
    std::vector<float> logits(9, -30.0f);
    const auto say = [&](std::size_t token, double share) {
      logits[token] = static_cast<float>(std::log(share));
    };
    if (prefix.size() == 1) {
      say(3, 0.4);
      say(4, 0.6);
    } else if (prefix[1] == 3 || prefix.size() == 4) {
      say(kEos, 1.0);
    } else if (prefix.size() == 2) {
      say(5, 1.0);
    } else {
      say(6, 0.3);
      say(7, 0.4);
      say(8, 0.3);
    }
    return test::normalised(logits);
  });
  SearchOptions options{.beam = 4, .length_penalty = 0.0, .max_length = 6};
  EXPECT_EQ(answers(oracle, {4}, options)[0][0].tokens, (Tokens{3}));
  options.choice = Choice::consensus;
  const Hypothesis chosen = answers(oracle, {4}, options)[0][0];
  EXPECT_EQ(chosen.tokens, (Tokens{4, 5, 7}));
  EXPECT_GT(chosen.score, 0.0);
  EXPECT_LE(chosen.score, 1.0);
}

TEST(Search, AConsensusRanksTheSameAnswers) {
  const test::Oracle oracle = hashed_oracle();
  SearchOptions options{.beam = 6, .best = 6, .max_length = 4};
  const auto likeliest = answers(oracle, {4, 5, 6, 7}, options);
  options.choice = Choice::consensus;
  const auto consensus = answers(oracle, {4, 5, 6, 7}, options);
  options.best = 1;
  const auto first = answers(oracle, {4, 5, 6, 7}, options);
  for (std::size_t source = 0; source < likeliest.size(); ++source) {
    const auto by_tokens = [](const Hypothesis& a, const Hypothesis& b) {
      return a.tokens < b.tokens;
    };
    std::vector<Hypothesis> these = likeliest[source];
    std::vector<Hypothesis> those = consensus[source];
    ASSERT_EQ(these.size(), those.size());
    ASSERT_EQ(first[source].size(), 1u);
    EXPECT_EQ(first[source][0].tokens, those[0].tokens);
    for (std::size_t i = 1; i < those.size(); ++i)
      EXPECT_TRUE(those[i - 1].finished > those[i].finished ||
                  those[i - 1].score >= those[i].score);
    std::sort(these.begin(), these.end(), by_tokens);
    std::sort(those.begin(), those.end(), by_tokens);
    for (std::size_t i = 0; i < these.size(); ++i) {
      EXPECT_EQ(these[i].tokens, those[i].tokens);
      EXPECT_EQ(these[i].log_probability, those[i].log_probability);
    }
  }
}

TEST(Search, WhatHasNoEndIsCutOff) {
  const test::Oracle oracle([](std::int64_t, const Tokens&) {
    return test::normalised({0.0f, 0.0f, -80.0f, 0.0f, 1.0f, 0.5f});
  });
  for (const std::int64_t beam : {1, 3}) {
    const auto found =
        answers(oracle, {4, 5}, {.beam = beam, .best = beam, .max_length = 7})[1];
    ASSERT_EQ(static_cast<std::int64_t>(found.size()), beam);
    EXPECT_EQ(found[0].tokens, Tokens(7, 4));
    for (const Hypothesis& one : found) {
      EXPECT_FALSE(one.finished);
      EXPECT_EQ(one.tokens.size(), 7u);
    }
  }
}

TEST(Search, RowsDoNotChangeEachOther) {
  const auto model = test::model_laws::used(make_transformer, test::tiny(Kind::transformer));
  const std::vector<test::Pair> pairs = {
      {{4, 5, 6, 4, 8, 7, 7}, {}}, {{7}, {}}, {{8, 5, 5}, {}}, {{6, 6, 4, 5}, {}}, {{}, {}}};
  const SearchOptions options{.beam = 4, .best = 3, .max_length = 12};
  const Batch all = test::batch_of(pairs, 2);
  const auto together = search(*model, all.source, all.source_lengths, options);
  for (std::size_t row = 0; row < pairs.size(); ++row) {
    const Batch one = test::batch_of({pairs[row]});
    const auto alone = search(*model, one.source, one.source_lengths, options)[0];
    ASSERT_EQ(together[row].size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      SCOPED_TRACE("row " + std::to_string(row) + ", answer " + std::to_string(i));
      EXPECT_EQ(together[row][i].tokens, alone[i].tokens);
      EXPECT_TRUE(
          test::close(together[row][i].score, alone[i].score, 12 * test::model_laws::kWithin));
    }
  }
}

/// More sources than are searched at a time.
TEST(Search, NeitherPartsNorThreadsChangeAnAnswer) {
  const test::Oracle oracle = hashed_oracle();
  const SearchOptions options{.beam = 3, .best = 2, .max_length = 6};
  Tokens sources(100);
  std::iota(sources.begin(), sources.end(), 4);
  const int before = ThreadPool::default_threads();
  for (const int threads : {1, 3}) {
    ThreadPool::set_default_threads(threads);
    const auto together = answers(oracle, sources, options);
    ASSERT_EQ(together.size(), sources.size());
    for (std::size_t row = 0; row < sources.size(); ++row) {
      const auto alone = answers(oracle, {sources[row]}, options)[0];
      ASSERT_EQ(together[row].size(), alone.size());
      for (std::size_t i = 0; i < alone.size(); ++i) {
        EXPECT_EQ(together[row][i].tokens, alone[i].tokens) << "row " << row;
        EXPECT_EQ(together[row][i].score, alone[i].score) << "row " << row;
      }
    }
  }
  ThreadPool::set_default_threads(before);
}

TEST(Search, AFailureInAPartIsThrown) {
  const test::Oracle oracle([](std::int64_t source, const Tokens& prefix) {
    if (source == 90) fail("no source 90");
    return test::hashed_belief(source, prefix, kWords);
  });
  Tokens sources(100);
  std::iota(sources.begin(), sources.end(), 4);
  EXPECT_THROW(answers(oracle, sources, {.beam = 3}), InvalidArgument);
}

/// What an answer says of itself is what reading it again says.
TEST(Search, AnswersCarryTheirProbabilityAndWeights) {
  ModelOptions plain = test::tiny(Kind::transformer);
  ModelOptions copying = plain;
  copying.copy = Copy::coverage;
  for (const ModelOptions& options : {plain, copying}) {
    const auto model = test::model_laws::used(make_transformer, options);
    const Batch batch = test::batch_of(test::some_pairs());
    const auto found = search(*model, batch.source, batch.source_lengths,
                              {.beam = 3, .best = 3, .max_length = 6});
    for (std::size_t row = 0; row < found.size(); ++row) {
      const auto index = static_cast<std::int64_t>(row);
      for (const Hypothesis& answer : found[row]) {
        const auto decoding = model->decode(batch.source.slice(0, index, index + 1),
                                            batch.source_lengths.slice(0, index, index + 1));
        Tokens read = answer.tokens;
        read.insert(read.begin(), kBos);
        const auto extent = static_cast<std::size_t>(batch.source.size(1));
        ASSERT_EQ(answer.weights.size(), read.size() * extent);
        double log_probability = 0.0;
        for (std::size_t step = 0; step < read.size(); ++step) {
          const Prediction said = decoding->step(Tensor::from(Tokens{read[step]}, {1}));
          const auto weights = said.weights.to_vector<float>();
          for (std::size_t place = 0; place < extent; ++place)
            EXPECT_TRUE(test::close(answer.weights[step * extent + place], weights[place],
                                    test::model_laws::kWithin));
          const bool last = step + 1 == read.size();
          if (last && !answer.finished) continue;
          const auto word = static_cast<std::size_t>(last ? kEos : read[step + 1]);
          log_probability +=
              static_cast<double>(said.log_probabilities.to_vector<float>()[word]);
        }
        EXPECT_TRUE(test::close(answer.log_probability, log_probability,
                                6 * test::model_laws::kWithin));
      }
    }
  }
}

TEST(Search, ADrawDependsOnSeedRowAndStepAlone) {
  const test::Oracle oracle = hashed_oracle();
  const SearchOptions options{.max_length = 8, .temperature = 1.3, .seed = 5};
  const auto first = answers(oracle, {4, 5, 6, 7}, options);
  const auto second = answers(oracle, {8, 5, 9, 7}, options);
  EXPECT_EQ(first[1][0].tokens, second[1][0].tokens);
  EXPECT_EQ(first[3][0].tokens, second[3][0].tokens);
  SearchOptions other = options;
  other.seed = 6;
  int different = 0;
  const Tokens many(20, 4);
  const auto a = answers(oracle, many, options);
  const auto b = answers(oracle, many, other);
  for (std::size_t i = 0; i < many.size(); ++i) different += a[i][0].tokens != b[i][0].tokens;
  EXPECT_GT(different, 10);
}

TEST(Search, DrawsFollowTheirProbabilities) {
  constexpr std::size_t kDraws = 4000;
  const std::vector<float> belief = test::normalised({0.0f, 0.0f, -0.5f, 0.3f, 1.0f, -1.0f});
  const test::Oracle oracle(
      [&](std::int64_t, const Tokens&) { return std::vector<float>(belief); });
  for (const std::int64_t top : {0, 2}) {
    const SearchOptions options{.max_length = 1, .temperature = 0.7, .top = top};
    std::vector<double> counts(kWords, 0.0);
    for (const auto& found : answers(oracle, Tokens(kDraws, 4), options))
      counts[found[0].tokens.empty() ? kEos : static_cast<std::size_t>(found[0].tokens[0])] +=
          1.0 / kDraws;
    std::vector<double> want(kWords, 0.0);
    double sum = 0.0;
    for (std::size_t word = kEos; word < kWords; ++word) {
      if (top == 2 && word != 4 && word != 3) continue;
      sum += want[word] = std::exp(static_cast<double>(belief[word]) / 0.7);
    }
    for (std::size_t word = 0; word < kWords; ++word) {
      const double share = want[word] / sum;
      // Five standard deviations.
      const double within = 5.0 * std::sqrt(share * (1.0 - share) / kDraws);
      EXPECT_NEAR(counts[word], share, within + 1e-12) << "word " << word << ", top " << top;
    }
  }
}

TEST(Search, DrawingFromTheLikeliestIsGreedy) {
  const test::Oracle oracle = hashed_oracle();
  const auto greedy = answers(oracle, {4, 5, 6}, {.max_length = 6});
  const auto drawn =
      answers(oracle, {4, 5, 6}, {.max_length = 6, .temperature = 1.0, .top = 1});
  for (std::size_t i = 0; i < greedy.size(); ++i)
    EXPECT_EQ(greedy[i][0].tokens, drawn[i][0].tokens);
}

TEST(Search, NoSourcesNoAnswers) {
  EXPECT_TRUE(search(*test::model_laws::used(make_transformer, test::tiny(Kind::transformer)),
                     Tensor::zeros({0, 3}, DType::i64), Tensor::zeros({0}, DType::i64), {})
                  .empty());
}

TEST(Search, OptionsThatContradictAreToldSo) {
  const test::Oracle oracle = hashed_oracle();
  for (const SearchOptions& options :
       {SearchOptions{.beam = 0}, SearchOptions{.beam = 2, .best = 3}, SearchOptions{.best = 0},
        SearchOptions{.length_penalty = -1.0}, SearchOptions{.max_length = 0},
        SearchOptions{.temperature = -1.0}, SearchOptions{.beam = 2, .temperature = 1.0},
        SearchOptions{.no_repeat = -1}, SearchOptions{.top = -1}})
    EXPECT_THROW(answers(oracle, {4}, options), InvalidArgument);
}

}  // namespace
}  // namespace attn::models
