#include "tools/serve/live_sentence.hpp"

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/reference/attention.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tasks/answer_json.hpp"

namespace attn::serve {
namespace {

/// The views of a problem; the vectors must outlive them.
ForwardArgs<double> args_of(const Problem& problem, const std::vector<double>& values,
                            std::vector<double>& out) {
  const int rows = problem.rows();
  const int columns = problem.columns();
  out.assign(static_cast<std::size_t>(rows), 0.0);
  return {.q = packed<const double>(problem.queries.data(), 1, 1, rows, problem.channels),
          .k = packed<const double>(problem.keys.data(), 1, 1, columns, problem.channels),
          .v = packed<const double>(values.data(), 1, 1, columns, 1),
          .out = packed<double>(out.data(), 1, 1, rows, 1)};
}

}  // namespace

const Sentence& sentence() {
  static const Sentence kSentence{
      .words = {"the", "cat", "sat", "on", "the", "mat", "because", "it", "slept"},
      // Looks for: who, what happened, where, small words.
      .queries = {3.0, 0.0, 0.4,  0.0,   //
                  0.6, 3.0, 0.0,  0.4,   //
                  2.6, 0.4, 1.8,  0.0,   //
                  0.4, 1.0, 3.2,  0.0,   //
                  2.0, 0.0, 1.6,  0.0,   //
                  0.2, 1.4, 2.4,  0.6,   //
                  0.0, 2.8, 0.0,  0.8,   //
                  4.0, 0.0, -1.0, -0.6,  //
                  3.0, 0.6, 0.4,  0.4},
      .keys = {0.1, 0.0, 0.0, 1.0,  //
               2.0, 0.2, 0.0, 0.0,  //
               0.2, 1.8, 0.3, 0.0,  //
               0.0, 0.2, 1.1, 0.6,  //
               0.1, 0.0, 0.1, 1.0,  //
               1.2, 0.0, 1.8, 0.0,  //
               0.0, 0.4, 0.0, 1.2,  //
               1.5, 0.1, 0.0, 0.4,  //
               0.2, 2.0, 0.1, 0.0}};
  return kSentence;
}

float usual_scale() {
  return 1.0f / std::sqrt(static_cast<float>(sentence().channels));
}

std::vector<double> weights_of(const Problem& problem, const Recipe& recipe) {
  const int rows = problem.rows();
  const int columns = problem.columns();
  const std::vector<double> values(static_cast<std::size_t>(columns), 0.0);
  std::vector<double> out;
  std::vector<double> weights(static_cast<std::size_t>(rows) * values.size());
  reference::weights(args_of(problem, values, out), recipe,
                     packed<double>(weights.data(), 1, 1, rows, columns));
  return weights;
}

std::vector<double> pooled(const Problem& problem, const Recipe& recipe,
                           const std::vector<double>& values) {
  std::vector<double> out;
  reference::forward(args_of(problem, values, out), recipe);
  return out;
}

Problem self_attention() {
  return {sentence().queries, sentence().keys, sentence().channels};
}

nlohmann::json matrix_map(const std::string& title, const std::string& caption,
                          const std::vector<std::string>& rows,
                          const std::vector<std::string>& columns,
                          const std::vector<double>& weights) {
  return {{"attn_map", 1},
          {"kind", "alignment"},
          {"title", title},
          {"caption", caption},
          {"rows", rows},
          {"columns", columns},
          {"row_title", "looks"},
          {"column_title", "is looked at"},
          {"weights", tasks::rows_json(weights, columns.size())}};
}

nlohmann::json sentence_map(const std::string& title, const std::string& caption,
                            const Recipe& recipe) {
  return matrix_map(title, caption, sentence().words, sentence().words,
                    weights_of(self_attention(), recipe));
}

std::string formula_of(const char* mechanism) {
  const nn::Mechanism* found = nn::find_mechanism(mechanism);
  if (found == nullptr) fail("attn::serve: there is no mechanism ", mechanism);
  return found->formula;
}

}  // namespace attn::serve
