// What the distance between two words does to a score.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/table.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/mask/causal.hpp"
#include "attn/normalise/local_gaussian.hpp"
#include "attn/score/alibi.hpp"
#include "attn/score/t5_bias.hpp"
#include "attn/score/t5_buckets.hpp"
#include "tools/serve/live.hpp"
#include "tools/serve/live_sentence.hpp"

namespace attn::serve {
namespace {

nlohmann::json alibi(const Values& values) {
  const double slope = values.at("slope");
  Recipe recipe;
  recipe.scale = usual_scale();
  recipe.scores = {score_stage(score::Alibi{}, {table(&slope, {1, 1, 1, 1})})};
  recipe.masks = {MaskTree::of(mask_stage(mask::Causal::top_left()))};
  return sentence_map(
      "ALiBi",
      fmt::format("A score falls by {:g} with every word between; later words are masked.",
                  slope),
      recipe);
}

nlohmann::json t5(const Values& values) {
  // The slider counts the buckets of one direction; there are as many for the other.
  const int buckets = 2 * static_cast<int>(std::lround(values.at("buckets")));
  const int farthest = static_cast<int>(std::lround(values.at("farthest")));
  constexpr int kPositions = 24;
  std::vector<int> of_distance(2 * static_cast<std::size_t>(farthest) + 1);
  score::fill_t5_buckets(of_distance.data(), buckets, farthest, score::T5Direction::both);
  // Learnt in a model; here each bucket counts half as much as the one before it.
  std::vector<double> bias(static_cast<std::size_t>(buckets));
  for (int i = 0; i < buckets; ++i)
    bias[static_cast<std::size_t>(i)] = -std::log(2.0) * (i % (buckets / 2));
  Recipe recipe;
  recipe.similarity = Similarity::sum;  // of zeros: the bias alone is seen
  recipe.scores = {score_stage(score::T5Bias{of_distance.data(), farthest},
                               {table(bias.data(), {1, 1, 1, buckets})})};
  std::vector<std::string> places;
  places.reserve(kPositions);
  for (int i = 0; i < kPositions; ++i) places.push_back(std::to_string(i));
  const std::vector<double> zeros(kPositions, 0.0);
  return matrix_map(
      "T5's buckets",
      fmt::format("{} positions with equal scores: {} buckets for each direction, near "
                  "distances each their own, far ones together up to {}.",
                  kPositions, buckets / 2, farthest),
      places, places, weights_of({zeros, zeros, 1}, recipe));
}

nlohmann::json gaussian(const Values& values) {
  const double ahead = values.at("centre");
  const double sigma = values.at("sigma");
  const int words = sentence().size();
  std::vector<double> centres;
  centres.reserve(static_cast<std::size_t>(words));
  for (int i = 0; i < words; ++i)
    centres.push_back(std::clamp(i + ahead, 0.0, static_cast<double>(words - 1)));
  Recipe recipe;
  recipe.scale = usual_scale();
  recipe.weight_modifiers = {weight_stage(normalise::LocalGaussian{static_cast<float>(sigma)},
                                          {table(centres.data(), {1, 1, words, 1})})};
  return sentence_map(
      "Local attention",
      fmt::format("Weights of the softmax times a Gaussian of width {:g}, centred {:g} words "
                  "{} the one that looks; they are not brought back to a sum of 1.",
                  sigma, std::abs(ahead), ahead < 0 ? "before" : "behind"),
      recipe);
}

}  // namespace

std::vector<LiveExample> live_positions() {
  return {{"local_gaussian",
           "Local-p: a Gaussian around a place",
           formula_of("local_predictive"),
           "Luong's local attention predicts a centre for each query; here a slider does. What "
           "is far from it fades.",
           "matrix",
           {{"centre", "centre: words behind the query", -4, 4, 0.25, 0},
            {"sigma", "width σ, words", 0.25, 8, 0.25, 1.5}},
           gaussian},
          {"alibi",
           "ALiBi: far words count less",
           formula_of("alibi"),
           "No position is added to the words; scores fall with the distance instead. Every "
           "head of a model has its own slope.",
           "matrix",
           {{"slope", "slope m", 0, 2, 0.05, 0.5}},
           alibi},
          {"t5_buckets",
           "T5's buckets: a number for each range of distances",
           formula_of("t5_bias"),
           "Distances share buckets, narrow near and wide far away, and each bucket has one "
           "learnt number. Here a bucket counts half as much as the one before it.",
           "matrix",
           {{"buckets", "buckets of each direction", 2, 12, 1, 6},
            {"farthest", "distance from which all are alike", 8, 32, 1, 16}},
           t5}};
}

}  // namespace attn::serve
