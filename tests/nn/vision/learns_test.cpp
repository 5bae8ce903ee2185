#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/vision/box_attention.hpp"
#include "attn/nn/mechanisms/vision/co_attention_alternating.hpp"
#include "attn/nn/mechanisms/vision/co_attention_parallel.hpp"
#include "attn/nn/mechanisms/vision/hierarchical_answer.hpp"
#include "attn/nn/mechanisms/vision/non_local_block.hpp"
#include "attn/nn/mechanisms/vision/question_hierarchy.hpp"
#include "attn/nn/mechanisms/vision/spatial_attention.hpp"
#include "attn/nn/mechanisms/vision/text_score.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/lookup.hpp"
#include "nn/support/tasks.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kCount = 4;
constexpr std::int64_t kDim = 2 * kCount;
constexpr std::int64_t kHidden = 16;

/// Trains what `look(model, items, query)` gives, [batch, kDim], to hold the answer.
template <class M, class Look>
double train_lookup(const M& mechanism, bool attends, const Look& look, int steps = 200) {
  const WithHead model(mechanism, kDim, kCount);
  return train(model, steps, 0.05, [&] {
    const Lookup task = make_lookup(kBatch, kCount);
    const Tensor items = attends ? task.items : blurred(task.items);
    return cross_entropy(model.out(look(model.looks, items, task.query)), task.answer);
  });
}

template <class Train>
void expect_attention_learns(double bound, const Train& train_it) {
  expect_learns(bound, [&] { return train_it(true); }, [&] { return train_it(false); });
}

constexpr nn::TextScoreOptions kText{
    .image_dim = kDim, .text_dim = kCount, .hidden_dim = kHidden};

TEST(SpatialAttention, LearnsToFindTheCellThatIsAskedFor) {
  expect_attention_learns(0.4, [](bool attends) {
    return train_lookup(nn::SpatialAttention(kText), attends,
                        [](const auto& looks, const Tensor& items, const Tensor& text) {
                          const Tensor image =
                              items.transpose(1, 2).reshape({kBatch, kDim, 2, kCount / 2});
                          return looks.forward(image, text).context;
                        });
  });
}

/// Images have different numbers of boxes: some have empty ones before those that are asked
/// for.
TEST(BoxAttention, LearnsToFindTheBoxThatIsAskedFor) {
  std::vector<std::int64_t> ends{0};
  for (std::int64_t b = 0; b < kBatch; ++b) ends.push_back(ends.back() + b % 3 + kCount);
  const Tensor offsets = Tensor::from(ends, {kBatch + 1});
  expect_attention_learns(0.4, [&](bool attends) {
    return train_lookup(nn::BoxAttention(kText), attends,
                        [&](const auto& looks, const Tensor& items, const Tensor& text) {
                          std::vector<Tensor> boxes;
                          for (std::int64_t b = 0; b < kBatch; ++b)
                            boxes.push_back(pad(items.select(0, b), 0, b % 3, 0));
                          return looks.forward(concat(boxes, 0), offsets, text).context;
                        });
  });
}

constexpr std::int64_t kRows = 32;
constexpr std::int64_t kEach = 3;  // regions, words and classes

/// An image and a question of several words; a region and a word answer.
struct Meeting {
  Tensor image;          ///< [rows, regions, features]
  Tensor question;       ///< [rows, words, features]
  Tensor region_answer;  ///< i64 [rows]
  Tensor word_answer;    ///< i64 [rows]
};

/// Of the side that is hidden every item shows the mean.
enum class Hides { nothing, regions, words };

/// Reads the attended region and the attended word.
template <class M>
struct TwoHeads : nn::Module {
  TwoHeads(M mechanism, const nn::CoAttentionOptions& sizes)
      : looks(add("looks", mechanism)),
        region(add("region", nn::Linear({sizes.image_dim, kEach}))),
        word(add("word", nn::Linear({sizes.question_dim, kEach}))) {}

  M looks;
  nn::Linear region;
  nn::Linear word;
};

template <class Model, class Make>
double train_meeting(const Model& model, Hides hides, const Make& make) {
  return train(model, 300, 0.03, [&] {
    const Meeting task = make();
    const auto vectors = model.looks.forward(
        {.image = hides == Hides::regions ? blurred(task.image) : task.image,
         .question = hides == Hides::words ? blurred(task.question) : task.question});
    return 0.5 * (cross_entropy(model.region(vectors.image_vector), task.region_answer) +
                  cross_entropy(model.word(vectors.question_vector), task.word_answer));
  });
}

/// Hiding either side is without attention to it.
template <class Train>
void expect_both_sides(double bound, const Train& train_it) {
  for (const Hides hides : {Hides::regions, Hides::words})
    expect_learns(
        bound, [&] { return train_it(Hides::nothing); }, [&] { return train_it(hides); });
}

/// Items with keys and classes, in a random order.
struct Side {
  std::vector<std::int64_t> keys, classes, answers;

  /// The class of the first key is the answer.
  void add_row(const std::vector<std::int64_t>& row_keys) {
    for (const std::int64_t i : permutation(kEach, nn::random()).to_vector<std::int64_t>()) {
      keys.push_back(row_keys[static_cast<std::size_t>(i)]);
      classes.push_back(drawn(kEach));
      if (i == 0) answers.push_back(classes.back());
    }
  }
  Tensor features(std::int64_t kinds) const {
    const Shape shape{kRows, kEach};
    return concat({one_hot(Tensor::from(keys, shape), kinds),
                   one_hot(Tensor::from(classes, shape), kEach)},
                  2);
  }
};

constexpr std::int64_t kKeys = 2 * kEach - 1;

/// One key is in the image and in the question; neither side knows by itself which.
Meeting make_shared_key() {
  Side regions;
  Side words;
  for (std::int64_t row = 0; row < kRows; ++row) {
    const auto key = permutation(kKeys, nn::random()).to_vector<std::int64_t>();
    regions.add_row({key[0], key[1], key[2]});
    words.add_row({key[0], key[3], key[4]});
  }
  return {regions.features(kKeys), words.features(kKeys),
          Tensor::from(regions.answers, {kRows}), Tensor::from(words.answers, {kRows})};
}

TEST(ParallelCoAttention, LearnsWhatBothSidesShare) {
  const nn::CoAttentionOptions sizes{
      .image_dim = kKeys + kEach, .question_dim = kKeys + kEach, .hidden_dim = kHidden};
  expect_both_sides(0.1, [&](Hides hides) {
    const TwoHeads model(nn::ParallelCoAttention(sizes), sizes);
    return train_meeting(model, hides, make_shared_key);
  });
}

constexpr std::int64_t kLinks = 2;

/// The marked word names a region, and the class of that region names the word that answers. A
/// third word names nothing.
Meeting make_chain() {
  const Lookup regions = make_lookup(kRows, kLinks);
  const Lookup words = make_lookup(kRows, kLinks);
  const Tensor keys = words.items.slice(2, 0, kLinks);
  const Tensor mark = matmul(keys, regions.query.unsqueeze(2));
  return {regions.items, pad(concat({words.items, mark}, 2), 1, 0, 1), regions.answer,
          value_of(words, regions.answer)};
}

TEST(AlternatingCoAttention, LearnsToLookFromSideToSide) {
  const nn::CoAttentionOptions sizes{
      .image_dim = 2 * kLinks, .question_dim = 2 * kLinks + 1, .hidden_dim = kHidden};
  expect_both_sides(0.05, [&](Hides hides) {
    const TwoHeads model(nn::AlternatingCoAttention({.image_dim = sizes.image_dim,
                                                     .question_dim = sizes.question_dim,
                                                     .hidden_dim = sizes.hidden_dim}),
                         sizes);
    return train_meeting(model, hides, make_chain);
  });
}

/// A grid of two rows whose first cell is `first` [batch, channels]; `others` [batch, cells,
/// channels] follow.
Tensor make_grid(const Tensor& first, const Tensor& others) {
  const Tensor cells = concat({first.unsqueeze(1), others}, 1);
  return cells.transpose(1, 2).reshape({cells.size(0), cells.size(2), 2, cells.size(1) / 2});
}

/// The first cell asks for a key, the others hold keys and values. Long keys make the gaussian,
/// which learns no scores, look at them rather than at the cell that asks.
double train_fetch(nn::NonLocalMode mode, bool attends) {
  constexpr std::int64_t kHeld = 5;
  const WithHead model(
      nn::NonLocalBlock({.channels = 2 * kHeld, .inner = kDim, .grid_rank = 2, .mode = mode}),
      2 * kHeld, kHeld);
  return train(model, 250, 0.03, [&] {
    const Lookup task = make_lookup(kRows, kHeld);
    const Tensor keys = task.items.slice(2, 0, kHeld) * 4.0;
    const Tensor items = concat({keys, task.items.slice(2, kHeld, 2 * kHeld)}, 2);
    const Tensor x = make_grid(pad(task.query, 1, 0, kHeld), attends ? items : blurred(items));
    const Tensor z = model.looks.forward(x).z;
    return cross_entropy(model.out(z.select(3, 0).select(2, 0)), task.answer);
  });
}

TEST(NonLocalBlock, LearnsToFetchFromAnotherCell) {
  for (const nn::NonLocalMode mode :
       {nn::NonLocalMode::gaussian, nn::NonLocalMode::embedded_gaussian, nn::NonLocalMode::dot})
    expect_attention_learns(0.4, [=](bool attends) { return train_fetch(mode, attends); });
}

/// Scores of the concatenation are one number of the query plus one of the key, so they match
/// no keys. They can choose a marked cell, and whether to look at all: the first cell asks for
/// its class, the second keeps its own. Marks are of both signs so that some score is above 0,
/// and learns, at first.
double train_concat(bool attends) {
  constexpr std::int64_t kChannels = kEach + 2;  // a class, a mark, and whether it asks
  const WithHead model(nn::NonLocalBlock({.channels = kChannels,
                                          .inner = kHidden,
                                          .grid_rank = 2,
                                          .mode = nn::NonLocalMode::concat}),
                       kChannels, kEach);
  const Tensor flags = Tensor::from(std::vector<float>{0.0f, 2.0f, 0.0f, -2.0f}, {1, 2, 2})
                           .expand({kRows, 2, 2});
  return train(model, 700, 0.01, [&] {
    const Marked task = make_marked(kRows, 4, kEach);
    const Tensor own = random_integers({kRows, 2}, 0, kEach, nn::random());
    const Tensor readers = concat({2.0 * one_hot(own, kEach), flags}, 2);
    const Tensor items = attends ? task.items : blurred(task.items);
    const Tensor others = concat({readers.slice(1, 1, 2), pad(4.0 * items - 2.0, 2, 0, 1)}, 1);
    const Tensor z = model.looks.forward(make_grid(readers.select(1, 0), others)).z;
    const Tensor answers = concat({task.answer.unsqueeze(1), own.slice(1, 1, 2)}, 1);
    return cross_entropy(model.out(z.select(2, 0).slice(2, 0, 2).transpose(1, 2)), answers);
  });
}

TEST(NonLocalBlock, LearnsWhetherToLookAtAMarkedCell) {
  expect_attention_learns(0.15, train_concat);
}

/// Whether the two marks stand in this order; their mean does not tell.
TEST(QuestionHierarchy, LearnsTheOrderOfWords) {
  expect_attention_learns(0.3, [](bool ordered) {
    const WithHead model(
        nn::QuestionHierarchy({.word_dim = 2, .phrase_dim = 6, .hidden_dim = 6}), 6, 2);
    return train(model, 150, 0.05, [&] {
      std::vector<float> words(kBatch * 4 * 2, 0.0f);
      std::vector<std::int64_t> answers;
      for (std::int64_t b = 0; b < kBatch; ++b) {
        const std::int64_t place = drawn(3);
        const std::int64_t first = drawn(2);
        words[static_cast<std::size_t>((b * 4 + place) * 2 + first)] = 1.0f;
        words[static_cast<std::size_t>((b * 4 + place + 1) * 2 + 1 - first)] = 1.0f;
        answers.push_back(first);
      }
      const Tensor read = Tensor::from(words, {kBatch, 4, 2});
      const Tensor states = model.looks.forward(ordered ? read : blurred(read)).question;
      return cross_entropy(model.out(states.select(1, 3)), Tensor::from(answers, {kBatch}));
    });
  });
}

/// A phrase knows its words two places on, which its widest convolution brings. The others see
/// one and two words.
TEST(QuestionHierarchy, LearnsPhrasesOfThreeWords) {
  expect_attention_learns(0.3, [](bool whole) {
    const WithHead model(
        nn::QuestionHierarchy({.word_dim = kEach, .phrase_dim = 12, .hidden_dim = 6}), 12,
        kEach);
    return train(model, 200, 0.05, [&] {
      const Tensor ids = random_integers({kBatch, 5}, 0, kEach, nn::random());
      const Tensor words = one_hot(ids, kEach);
      const Tensor phrase = model.looks.forward(whole ? words : blurred(words)).phrase;
      return cross_entropy(model.out(phrase.slice(1, 0, 3)), ids.slice(1, 2, 5));
    });
  });
}

/// The answer is the sum of a class of one level and of one of the next. Without the lower
/// level it is not known.
TEST(HierarchicalAnswer, LearnsWhatNeedsTwoLevels) {
  enum class Lower { word, phrase };
  const auto train_levels = [](Lower lower, bool all_levels) {
    const nn::HierarchicalAnswer model({.dim = kEach,
                                        .word_hidden = kHidden,
                                        .phrase_hidden = kHidden,
                                        .question_hidden = kHidden,
                                        .answers = kEach});
    const Tensor nothing = Tensor::zeros({kBatch, kEach});
    return train(model, 300, 0.03, [&] {
      const Tensor first = random_integers({kBatch}, 0, kEach, nn::random());
      const Tensor second = random_integers({kBatch}, 0, kEach, nn::random());
      std::vector<std::int64_t> answers;
      for (std::int64_t b = 0; b < kBatch; ++b)
        answers.push_back((first.data<std::int64_t>()[b] + second.data<std::int64_t>()[b]) %
                          kEach);
      const Tensor low = all_levels ? one_hot(first, kEach) : nothing;
      const Tensor logits = model.forward({lower == Lower::word ? low : nothing, nothing},
                                          {nothing, lower == Lower::phrase ? low : nothing},
                                          {one_hot(second, kEach), nothing});
      return cross_entropy(logits, Tensor::from(answers, {kBatch}));
    });
  };
  for (const Lower lower : {Lower::word, Lower::phrase})
    expect_attention_learns(0.3, [&](bool all) { return train_levels(lower, all); });
}

}  // namespace
}  // namespace attn::test
