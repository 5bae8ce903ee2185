#include "nn/support/learns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "attn/nn/vision/box_attention.hpp"
#include "attn/nn/vision/co_attention_alternating.hpp"
#include "attn/nn/vision/co_attention_parallel.hpp"
#include "attn/nn/vision/hierarchical_answer.hpp"
#include "attn/nn/vision/non_local_block.hpp"
#include "attn/nn/vision/question_hierarchy.hpp"
#include "attn/nn/vision/spatial_attention.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
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

TEST(BoxAttention, LearnsToFindTheBoxThatIsAskedFor) {
  std::vector<std::int64_t> ends;
  for (std::int64_t b = 0; b <= kBatch; ++b) ends.push_back(b * kCount);
  const Tensor offsets = Tensor::from(ends, {kBatch + 1});
  expect_attention_learns(0.4, [&](bool attends) {
    return train_lookup(nn::BoxAttention(kText), attends,
                        [&](const auto& looks, const Tensor& items, const Tensor& text) {
                          const Tensor boxes = items.reshape({kBatch * kCount, kDim});
                          return looks.forward(boxes, offsets, text).context;
                        });
  });
}

constexpr nn::CoAttentionOptions kSides{
    .image_dim = kDim, .question_dim = kCount, .hidden_dim = kHidden};

TEST(ParallelCoAttention, LearnsToFindTheRegionThatIsAskedFor) {
  expect_attention_learns(0.4, [](bool attends) {
    return train_lookup(
        nn::ParallelCoAttention(kSides), attends,
        [](const auto& looks, const Tensor& items, const Tensor& query) {
          return looks.forward({.image = items, .question = query.unsqueeze(1)}).image_vector;
        });
  });
}

TEST(AlternatingCoAttention, LearnsToFindTheRegionThatIsAskedFor) {
  expect_attention_learns(0.4, [](bool attends) {
    return train_lookup(
        nn::AlternatingCoAttention(
            {.image_dim = kDim, .question_dim = kCount, .hidden_dim = kHidden}),
        attends, [](const auto& looks, const Tensor& items, const Tensor& query) {
          return looks.forward({.image = items, .question = query.unsqueeze(1)}).image_vector;
        });
  });
}

/// The first cell asks, the others hold keys and values; the answer is read at the first.
TEST(NonLocalBlock, LearnsToFetchFromAnotherCell) {
  expect_attention_learns(0.4, [](bool attends) {
    const WithHead model(
        nn::NonLocalBlock({.channels = kDim + kCount, .inner = kDim, .grid_rank = 1}),
        kDim + kCount, kCount);
    return train(model, 250, 0.03, [&] {
      const Lookup task = make_lookup(kBatch, kCount);
      const Tensor items = attends ? task.items : blurred(task.items);
      const Tensor asks =
          concat(std::vector<Tensor>{task.query, Tensor::zeros({kBatch, kDim})}, 1);
      const Tensor holds =
          concat(std::vector<Tensor>{Tensor::zeros({kBatch, kCount, kCount}), items}, 2);
      const Tensor cells = concat(std::vector<Tensor>{asks.unsqueeze(1), holds}, 1);
      const Tensor z = model.looks.forward(cells.transpose(1, 2)).z;
      return cross_entropy(model.out(z.select(2, 0)), task.answer);
    });
  });
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

/// The answer is the sum of a class of the word level and one of the question level.
TEST(HierarchicalAnswer, LearnsWhatNeedsTwoLevels) {
  constexpr std::int64_t kClasses = 3;
  expect_attention_learns(0.3, [](bool all_levels) {
    const nn::HierarchicalAnswer model({.dim = kClasses,
                                        .word_hidden = kHidden,
                                        .phrase_hidden = kHidden,
                                        .question_hidden = kHidden,
                                        .answers = kClasses});
    const Tensor nothing = Tensor::zeros({kBatch, kClasses});
    return train(model, 300, 0.03, [&] {
      std::vector<float> word(kBatch * kClasses, 0.0f);
      std::vector<float> question(kBatch * kClasses, 0.0f);
      std::vector<std::int64_t> answers;
      for (std::int64_t b = 0; b < kBatch; ++b) {
        const std::int64_t first = drawn(kClasses);
        const std::int64_t second = drawn(kClasses);
        word[static_cast<std::size_t>(b * kClasses + first)] = all_levels ? 1.0f : 0.0f;
        question[static_cast<std::size_t>(b * kClasses + second)] = 1.0f;
        answers.push_back((first + second) % kClasses);
      }
      const Tensor logits =
          model.forward({Tensor::from(word, nothing.shape()), nothing}, {nothing, nothing},
                        {Tensor::from(question, nothing.shape()), nothing});
      return cross_entropy(logits, Tensor::from(answers, {kBatch}));
    });
  });
}

}  // namespace
}  // namespace attn::test
