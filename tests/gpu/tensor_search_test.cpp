// Answers are searched for on the GPU as on the CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/models/search.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"
#include "support/tolerance.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kWords = 60;

models::ModelOptions small(const char* kind) {
  models::ModelOptions options;
  models::set_option(options, "kind", kind);
  options.source_vocabulary = options.target_vocabulary = kWords;
  options.dim = 32;
  options.heads = 4;
  options.feed_forward = 64;
  options.max_source = 12;
  return options;
}

void expect_same_answers(const models::ModelOptions& options, const std::string& name) {
  nn::seed(5);
  const std::shared_ptr<models::Seq2Seq> model = models::make_model(options);
  model->eval();
  attn::Random random(8);
  const Tensor source = random_integers({7, 12}, 4, kWords, random);
  const Tensor lengths = random_integers({7}, 1, 13, random);
  for (const std::int64_t beam : {1, 4}) {
    const models::SearchOptions search{.beam = beam, .best = beam, .max_length = 20};
    model->to(Device::cpu);
    const auto want = models::search(*model, source, lengths, search);
    model->to(Device::gpu);
    const auto got = models::search(*model, source, lengths, search);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t row = 0; row < want.size(); ++row) {
      ASSERT_EQ(got[row].size(), want[row].size());
      for (std::size_t i = 0; i < want[row].size(); ++i) {
        EXPECT_EQ(got[row][i].tokens, want[row][i].tokens) << name << ", row " << row;
        EXPECT_NEAR(got[row][i].score, want[row][i].score, test::kFloatModel)
            << name << ", row " << row;
        ASSERT_EQ(got[row][i].weights.size(), want[row][i].weights.size());
        for (std::size_t w = 0; w < want[row][i].weights.size(); ++w)
          EXPECT_NEAR(got[row][i].weights[w], want[row][i].weights[w], test::kFloatModel)
              << name;
      }
    }
  }
}

TEST(GpuSearch, OfEveryKindOfModel) {
  SKIP_WITHOUT_GPU();
  for (const char* kind : {"rnn", "bahdanau", "luong", "convolutional", "transformer"})
    expect_same_answers(small(kind), kind);
}

TEST(GpuSearch, OfTransformersThatPlaceAndCopyInOtherWays) {
  SKIP_WITHOUT_GPU();
  for (const char* positions : {"sinusoidal", "rotary", "relative"}) {
    models::ModelOptions options = small("transformer");
    models::set_option(options, "positions", positions);
    expect_same_answers(options, positions);
  }
  for (const char* copy : {"pointer", "coverage"}) {
    models::ModelOptions options = small("transformer");
    models::set_option(options, "copy", copy);
    models::set_option(options, "tie", "all");
    expect_same_answers(options, copy);
  }
}

TEST(GpuSearch, SaysNothingForbidden) {
  SKIP_WITHOUT_GPU();
  nn::seed(5);
  const std::shared_ptr<models::Seq2Seq> model = models::make_model(small("transformer"));
  model->eval();
  attn::Random random(8);
  const Tensor source = random_integers({6, 12}, 4, kWords, random);
  const Tensor lengths = Tensor::full({6}, 12.0, DType::i64);
  // Of some sources a few words, of others all but seven: more than are fetched to choose from.
  models::SearchOptions search{.beam = 3, .max_length = 15, .no_repeat = 2, .weights = false};
  search.forbid = [](std::int64_t row, std::span<const std::int64_t> said,
                     std::span<float> next) {
    const std::size_t first = row % 2 == 0 ? next.size() - 5 : 9 + said.size() % 2;
    std::fill(next.begin() + static_cast<std::ptrdiff_t>(first), next.end(),
              -std::numeric_limits<float>::infinity());
  };
  const auto want = models::search(*model, source, lengths, search);
  model->to(Device::gpu);
  const auto got = models::search(*model, source, lengths, search);
  for (std::size_t row = 0; row < want.size(); ++row) {
    EXPECT_EQ(got[row][0].tokens, want[row][0].tokens) << row;
    EXPECT_NEAR(got[row][0].score, want[row][0].score, test::kFloatModel) << row;
    EXPECT_TRUE(got[row][0].weights.empty());
  }
}

TEST(GpuSearch, SteeredAttention) {
  SKIP_WITHOUT_GPU();
  nn::seed(5);
  const std::shared_ptr<models::Seq2Seq> model = models::make_model(small("transformer"));
  model->eval();
  attn::Random random(8);
  const Tensor source = random_integers({3, 12}, 4, kWords, random);
  const Tensor lengths = Tensor::full({3}, 12.0, DType::i64);
  models::SearchOptions search{.beam = 2, .max_length = 10};
  search.steering.temperature = 0.5;
  const auto want = models::search(*model, source, lengths, search);
  model->to(Device::gpu);
  const auto got = models::search(*model, source, lengths, search);
  for (std::size_t row = 0; row < want.size(); ++row)
    EXPECT_EQ(got[row][0].tokens, want[row][0].tokens);
}

}  // namespace
}  // namespace attn::test
