/// The sentence that most live examples look at, and the reference kernel run on it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "attn/kernels/recipe.hpp"

namespace attn::serve {

/// Words with what each looks for (queries) and what each offers (keys). The numbers were
/// chosen by hand, so that pictures can be read: the channels stand for who, what, where and
/// small words.
struct Sentence {
  std::vector<std::string> words;
  std::vector<double> queries;  ///< [words, channels]
  std::vector<double> keys;     ///< [words, channels]
  int channels = 4;

  int size() const { return static_cast<int>(words.size()); }
};
const Sentence& sentence();

/// 1 / sqrt(channels), which the examples scale scores by.
float usual_scale();

/// Weights of plain loops in double, row by row; the recipe does the rest.
struct Problem {
  std::vector<double> queries;
  std::vector<double> keys;
  int channels = 1;

  int rows() const { return static_cast<int>(queries.size()) / channels; }
  int columns() const { return static_cast<int>(keys.size()) / channels; }
};
std::vector<double> weights_of(const Problem& problem, const Recipe& recipe);
/// What the weights make of one number a key.
std::vector<double> pooled(const Problem& problem, const Recipe& recipe,
                           const std::vector<double>& values);

/// Every word looks at every word.
Problem self_attention();

/// A map of kind `alignment`.
nlohmann::json matrix_map(const std::string& title, const std::string& caption,
                          const std::vector<std::string>& rows,
                          const std::vector<std::string>& columns,
                          const std::vector<double>& weights);
/// The same of the sentence with itself.
nlohmann::json sentence_map(const std::string& title, const std::string& caption,
                            const Recipe& recipe);

/// The registry's formula of a mechanism.
std::string formula_of(const char* mechanism);

}  // namespace attn::serve
