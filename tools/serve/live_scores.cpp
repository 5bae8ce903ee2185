// How a query and a key become a number, and what is done to that number.

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "attn/core/table.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/score/soft_cap.hpp"
#include "tools/serve/live.hpp"
#include "tools/serve/live_sentence.hpp"

namespace attn::serve {
namespace {

nlohmann::json temperature(const Values& values) {
  const double divisor = values.at("temperature");
  Recipe recipe;
  recipe.scale = usual_scale() / static_cast<float>(divisor);
  return sentence_map(
      "Temperature of the softmax",
      fmt::format("Each row is a word that looks, its weights sum to 1; scores are divided by "
                  "{:g} before the softmax.",
                  divisor),
      recipe);
}

nlohmann::json soft_cap(const Values& values) {
  const double cap = values.at("cap");
  Recipe recipe;
  // Scores of a size that a cap is made for.
  recipe.scale = 4.0f * usual_scale();
  recipe.scores = {score_stage(score::SoftCap{static_cast<float>(cap)})};
  return sentence_map("Soft cap",
                      fmt::format("Scores, four times their usual size, are squashed into "
                                  "(-{0:g}, {0:g}) before the softmax.",
                                  cap),
                      recipe);
}

nlohmann::json additive(const Values& values) {
  const double gain = values.at("gain");
  const double strength = values.at("strength");
  Problem problem = self_attention();
  // The queries' projection has a bias: a channel that nobody looks for stays in the flat part
  // of the tanh, where keys make no difference.
  constexpr double kBias = -3.0;
  for (double& q : problem.queries) q = gain * (q + kBias);
  for (double& k : problem.keys) k *= gain;
  std::array<double, 4> weights{};
  weights.fill(strength);
  Recipe recipe;
  recipe.similarity = Similarity::additive;
  recipe.weights = table(weights.data(), {1, 1, 1, 4});
  return matrix_map(
      "Additive score",
      fmt::format("Query and key are added, times {:g}, under a tanh; what comes out counts "
                  "{:g} a channel. Where the tanh is full, keys look alike.",
                  gain, strength),
      sentence().words, sentence().words, weights_of(problem, recipe));
}

}  // namespace

std::vector<LiveExample> live_scores() {
  return {{"temperature",
           "Temperature: sharp or even",
           "w = softmax(q · k / (√d · T))",
           "A low temperature lets the best key win alone, a high one looks at all alike. "
           "The words' vectors were chosen by hand so that the picture can be read.",
           "matrix",
           {{"temperature", "temperature T", 0.1, 8.0, 0.1, 1.0}},
           temperature},
          {"soft_cap",
           "Soft cap: no score runs away",
           "s′ = cap · tanh(s / cap), w = softmax(s′)",
           "Large scores are squashed and small ones pass, so that no key takes everything "
           "and gradients stay alive (Gemma 2).",
           "matrix",
           {{"cap", "cap", 0.5, 30.0, 0.5, 30.0}},
           soft_cap},
          {"additive_score",
           "Additive score: a small network compares",
           formula_of("score_additive"),
           "Bahdanau's score adds query and key under a tanh. The gain says how far into its "
           "flat parts they reach, the strength how much its result counts.",
           "matrix",
           {{"gain", "gain inside the tanh", 0.05, 2.0, 0.05, 0.6},
            {"strength", "strength of each channel", 0.0, 10.0, 0.25, 4.0}},
           additive}};
}

}  // namespace attn::serve
