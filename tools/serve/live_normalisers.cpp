// How scores become weights.

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/table.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/normalise/sigmoid.hpp"
#include "attn/normalise/softmax.hpp"
#include "attn/normalise/softmax_sink.hpp"
#include "attn/normalise/sparsemax.hpp"
#include "attn/score/bias.hpp"
#include "tools/serve/live.hpp"
#include "tools/serve/live_sentence.hpp"

namespace attn::serve {
namespace {

/// The word that looks: "it".
constexpr int kPronoun = 7;

nlohmann::json sparsemax(const Values& values) {
  const double scale = values.at("scale");
  const Sentence& words = sentence();
  const auto first = words.queries.begin() + kPronoun * words.channels;
  const Problem problem{{first, first + words.channels}, words.keys, words.channels};
  Recipe recipe;
  recipe.scale = static_cast<float>(scale) * usual_scale();
  std::vector<double> weights;
  for (const AnyNormaliser& normaliser :
       {normaliser_stage(normalise::Softmax{}), normaliser_stage(normalise::Sparsemax{})}) {
    recipe.normaliser = normaliser;
    const std::vector<double> row = weights_of(problem, recipe);
    weights.insert(weights.end(), row.begin(), row.end());
  }
  return matrix_map("Sparsemax against softmax",
                    fmt::format("The word \"it\" looks at the sentence twice, its scores times "
                                "{:g}. Both rows sum to 1; sparsemax has exact zeros.",
                                scale),
                    {"softmax", "sparsemax"}, words.words, weights);
}

nlohmann::json sigmoid(const Values& values) {
  const double bias = values.at("bias");
  Recipe recipe;
  recipe.scale = usual_scale();
  const std::vector<double> biases(sentence().words.size(), bias);
  recipe.scores = {
      score_stage(score::Bias{}, {table(biases.data(), {1, 1, 1, sentence().size()})})};
  recipe.normaliser = normaliser_stage(normalise::Sigmoid{});
  return sentence_map("Sigmoid",
                      fmt::format("Every weight stands alone between 0 and 1; scores are moved "
                                  "by {:g}, and rows need not sum to 1.",
                                  bias),
                      recipe);
}

nlohmann::json sink(const Values& values) {
  const double score = values.at("sink");
  Recipe recipe;
  recipe.scale = usual_scale();
  recipe.normaliser = normaliser_stage(normalise::SoftmaxSink{}, {table(&score, {1, 1, 1, 1})});
  return sentence_map("Attention sink",
                      fmt::format("One more score of {:g}, which has no word, takes part in "
                                  "every sum: what it takes is missing from the row.",
                                  score),
                      recipe);
}

}  // namespace

std::vector<LiveExample> live_normalisers() {
  return {{"sparsemax",
           "Sparsemax: weights with exact zeros",
           "softmax: w = exp(s) / Σ exp(s)\nsparsemax: w = max(s − τ, 0), τ such that Σ w = 1",
           "Softmax gives everything a little. Sparsemax, the nearest point of the simplex, "
           "gives most words nothing at all.",
           "matrix",
           {{"scale", "size of the scores", 0.05, 3.0, 0.05, 0.5}},
           sparsemax},
          {"sigmoid",
           "Sigmoid: every weight for itself",
           "w = 1 / (1 + exp(−(s + b)))",
           "Nothing competes: a word may look at all others fully or at none. A bias of "
           "−log(keys) keeps sums near 1.",
           "matrix",
           {{"bias", "bias b", -8, 2, 0.1, -2.2}},
           sigmoid},
          {"sink",
           "Attention sink: a head may look at nothing",
           "w = exp(s) / (exp(sink) + Σ exp(s))",
           "A learnt score without a value joins the sum. When it is high, little is left for "
           "the words, and the head says nothing.",
           "matrix",
           {{"sink", "score of the sink", -6, 8, 0.25, 2}},
           sink}};
}

}  // namespace attn::serve
