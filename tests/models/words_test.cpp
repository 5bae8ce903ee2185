#include "models/words.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/options.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::models {
namespace {

ModelOptions options_with(double word_dropout) {
  ModelOptions options;
  options.source_vocabulary = options.target_vocabulary = 20;
  options.dim = 8;
  options.dropout = 0.0;
  options.word_dropout = word_dropout;
  return options;
}

TEST(Words, WordDropoutHidesWholeWordsWhileTraining) {
  constexpr std::int64_t kCount = 2000;
  nn::random() = Random(3).named("words");
  Words words(options_with(0.25));
  const Tensor ids = Tensor::full({kCount}, 7.0, DType::i64);
  words.eval();
  const std::vector<float> whole = words.source(ids).to_vector<float>();
  words.train();
  const std::vector<float> seen = words.source(ids).to_vector<float>();
  std::int64_t hidden = 0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const bool gone = seen[static_cast<std::size_t>(8 * i)] == 0.0f;
    hidden += gone ? 1 : 0;
    for (std::int64_t j = 8 * i; j < 8 * i + 8; ++j) {
      const auto at = static_cast<std::size_t>(j);
      EXPECT_NEAR(seen[at], gone ? 0.0f : whole[at] / 0.75f, test::kFloatSum);
    }
  }
  EXPECT_NEAR(static_cast<double>(hidden) / kCount, 0.25, 0.04);
}

TEST(Words, WithoutWordDropoutNothingIsDrawn) {
  Words words(options_with(0.0));
  words.train();
  nn::random() = Random(3).named("words");
  const auto before = nn::random().drawn();
  words.target(Tensor::full({5}, 7.0, DType::i64));
  EXPECT_EQ(nn::random().drawn(), before);
}

}  // namespace
}  // namespace attn::models
