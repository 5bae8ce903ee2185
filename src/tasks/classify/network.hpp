/// The networks of classify: recurrent words, pooled by attention in one level or two, and a
/// tag for each word where texts have slots.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/tasks/network.hpp"

namespace attn::tasks::classify {

enum class Kind {
  hierarchical,  ///< words make sentences, sentences the text
  flat,          ///< words make the text
  mean,          ///< the same without attention: every word counts the same
};
/// In the order of Kind.
const std::vector<std::string>& kind_names();

/// What stands beside what is pooled, of words that the GRU has not read.
enum class Bag {
  no,
  yes,     ///< their sum over the root of their number
  tf_idf,  ///< their sum by TF-IDF weights
};
/// In the order of Bag.
const std::vector<std::string>& bag_names();

/// Everything from what is in the model's settings and its lexicon.
std::shared_ptr<Network> make_classifier(const nlohmann::json& model, Lexicon lexicon,
                                         const std::string& where);
}  // namespace attn::tasks::classify
