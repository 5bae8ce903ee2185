#include "tasks/parse/map.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {

maps::Map arcs_map(const Sentence& sentence, std::span<const float> weights) {
  maps::Arcs map;
  map.caption = "Each arc points from a head to a word that depends on it and names how.";
  const std::size_t count = sentence.words.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Word& word = sentence.words[i];
    const auto head = static_cast<std::size_t>(word.head);
    map.words.push_back(word.form);
    map.tags.push_back(word.tag);
    // Without weights, all arcs are drawn alike.
    const float weight =
        weights.size() == count * (count + 1) ? weights[i * (count + 1) + head] : 1.0f;
    map.arcs.push_back({head, i + 1, word.relation, std::clamp(weight, 0.0f, 1.0f)});
  }
  return map;
}

maps::Map heads_map(const Sentence& sentence, std::span<const float> weights) {
  maps::Alignment map;
  map.caption =
      "how likely each word of the columns is the head of the word of a row; the first column "
      "is "
      "the root";
  map.row_title = "words";
  map.column_title = "heads";
  map.columns.emplace_back("root");
  for (const Word& word : sentence.words) {
    map.rows.push_back(word.form);
    map.columns.push_back(word.form);
  }
  if (weights.size() != map.rows.size() * map.columns.size())
    fail("attn::tasks::parse: ", weights.size(), " weights of ", map.rows.size(), " words");
  std::vector<float> held(weights.begin(), weights.end());
  // Rounding may leave a sum of 1 a bit above.
  for (float& weight : held) weight = std::clamp(weight, 0.0f, 1.0f);
  map.weights = {map.rows.size(), map.columns.size(), std::move(held)};
  return map;
}

}  // namespace attn::tasks::parse
