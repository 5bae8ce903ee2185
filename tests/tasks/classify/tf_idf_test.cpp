// TF-IDF weights of a batch, and the votes that are counted by them.

#include "tasks/classify/tf_idf.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "support/tolerance.hpp"
#include "tasks/classify/text_batch.hpp"
#include "tasks/classify/votes.hpp"
#include "tasks/classify/words.hpp"

namespace attn::tasks::classify {
namespace {

const std::vector<Example> kTexts{
    {"1", "the the cat", {"pet"}}, {"2", "the dog", {"pet"}}, {"3", "the sea", {"place"}}};
const text::Tokeniser kWords(text::Units::words, {{"the"}, {"cat"}, {"dog"}, {"sea"}});
constexpr std::size_t kThe = 4, kCat = 5, kDog = 6, kSea = 7;

TEST(TfIdf, CountsRarityByTexts) {
  const auto rarities = rarities_of(kTexts, kWords).to_vector<float>();
  ASSERT_EQ(rarities.size(), 8u);
  EXPECT_TRUE(test::close(rarities[kThe], 1.0, test::kFloatModel));
  EXPECT_TRUE(test::close(rarities[kCat], 1.0 + std::log(3.0), test::kFloatModel));
  // An unknown word is as rare as one that a single text has.
  EXPECT_EQ(rarities[text::Mark::unknown], rarities[kCat]);
}

TEST(TfIdf, WeighsDifferentWordsToLengthOneWhateverTheSentences) {
  const auto rarities = rarities_of(kTexts, kWords).to_vector<float>();
  const WordTables tables(kWords, 7);
  const std::vector<Reading> readings{{{{"the", "Cat"}, {"the", "zebra", "the"}}, false},
                                      {{{"dog"}}, false}};
  const TextBatch batch = tables.batch_of(readings, Device::cpu);
  const std::vector<float> weights = tf_idf_weights(batch, rarities);
  ASSERT_EQ(weights.size(), 12u);  // two texts of two sentences of three words
  const double the = 1.0 + std::log(3.0);
  const double rare = 1.0 + std::log(3.0);
  const double length = std::sqrt(the * the + 2.0 * rare * rare);
  const std::vector<double> right{the / 3.0, rare, 0.0, the / 3.0, rare, the / 3.0,
                                  length,    0.0,  0.0, 0.0,       0.0,  0.0};
  for (std::size_t i = 0; i < weights.size(); ++i)
    EXPECT_TRUE(test::close(weights[i], right[i] / length, test::kFloatModel)) << i;
}

TEST(Votes, AreForTheLabelWhoseRestLacksAWord) {
  const Tensor rarities = rarities_of(kTexts, kWords);
  const auto votes = votes_of(kTexts, kWords, rarities, {"pet", "place"}).to_vector<float>();
  ASSERT_EQ(votes.size(), 16u);
  for (std::size_t word = 0; word < 8; ++word)
    EXPECT_TRUE(test::close(votes[2 * word] + votes[2 * word + 1], 0.0, test::kFloatModel));
  EXPECT_GT(votes[2 * kCat], 0.0f);
  EXPECT_GT(votes[2 * kDog], 0.0f);
  EXPECT_LT(votes[2 * kSea], 0.0f);
  // By hand: the weights of each text have length 1.
  const double rare = 1.0 + std::log(3.0);
  const double twice = 1.0 + std::log(2.0);
  const double sea = rare / std::sqrt(1.0 + rare * rare);
  const double the_of_sea = 1.0 / std::sqrt(1.0 + rare * rare);
  const double cat = rare / std::sqrt(twice * twice + rare * rare);
  const double the_of_cat = twice / std::sqrt(twice * twice + rare * rare);
  const double little = 8 * 0.1;
  const double rest_of_pet = sea + the_of_sea + little;
  const double rest_of_place = cat + the_of_cat + sea + the_of_sea + little;
  const double for_pet = -std::log(0.1 / rest_of_pet);
  const double for_place = -std::log((cat + 0.1) / rest_of_place);
  EXPECT_TRUE(test::close(votes[2 * kCat], (for_pet - for_place) / 2.0, test::kFloatModel));
}

}  // namespace
}  // namespace attn::tasks::classify
