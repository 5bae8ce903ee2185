// TF-IDF weights of the words of a batch.

#include "tasks/classify/tf_idf.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/classify/text_batch.hpp"
#include "tasks/classify/words.hpp"

namespace attn::tasks::classify {
namespace {

/// The padded words of a batch, and which of them are there.
struct Places {
  std::vector<std::int64_t> lens;    ///< of each sentence
  std::vector<std::int64_t> places;  ///< the word among the different ones of the batch
  std::size_t words;                 ///< of a sentence, padding included

  /// Calls visit with each place of sentences [begin, end).
  template <class Visit>
  void each(std::size_t begin, std::size_t end, const Visit& visit) const {
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t i = 0; i < static_cast<std::size_t>(lens[row]); ++i)
        visit(row * words + i);
  }
};

}  // namespace

Tensor rarities_of(std::span<const Example> texts, const text::Tokeniser& words) {
  std::unordered_map<std::string, std::int64_t> counts;
  for (const Example& example : texts) {
    std::set<std::string> different;
    for (const std::string& word : words_of(example.source)) different.insert(key_of(word));
    for (const std::string& key : different) ++counts[key];
  }
  const auto all = static_cast<double>(texts.size());
  std::vector<float> rarities(static_cast<std::size_t>(words.size()),
                              static_cast<float>(1.0 + std::log(all)));
  for (std::int64_t id = text::Mark::unknown + 1; id < words.size(); ++id)
    if (const auto at = counts.find(words.label(id)); at != counts.end())
      rarities[static_cast<std::size_t>(id)] =
          static_cast<float>(1.0 + std::log(all / static_cast<double>(at->second)));
  return Tensor::from(rarities, {words.size()});
}

std::vector<float> tf_idf_weights(const TextBatch& batch, std::span<const float> rarities) {
  const auto ids = batch.ids.to_vector<std::int64_t>();
  const Places all{batch.word_lens.to_vector<std::int64_t>(),
                   batch.places.to_vector<std::int64_t>(),
                   static_cast<std::size_t>(batch.words)};
  const auto sentences = static_cast<std::size_t>(batch.sentences);
  std::vector<float> weights(ids.size(), 0.0f);
  for (std::size_t begin = 0; begin < all.lens.size(); begin += sentences) {
    const std::size_t end = begin + sentences;
    std::unordered_map<std::int64_t, double> counts;
    all.each(begin, end, [&](std::size_t at) { counts[all.places[at]] += 1.0; });
    double squares = 0.0;
    all.each(begin, end, [&](std::size_t at) {
      const double count = counts.at(all.places[at]);
      const double whole =
          (1.0 + std::log(count)) * rarities[static_cast<std::size_t>(ids[at])];
      squares += whole * whole / count;
      weights[at] = static_cast<float>(whole / count);
    });
    const auto length = static_cast<float>(std::sqrt(squares));
    all.each(begin, end, [&](std::size_t at) { weights[at] /= length; });
  }
  return weights;
}

}  // namespace attn::tasks::classify
