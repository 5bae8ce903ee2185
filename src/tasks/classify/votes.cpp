// Complement naive Bayes over the words of a vocabulary.

#include "tasks/classify/votes.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/classify/text_batch.hpp"
#include "tasks/classify/tf_idf.hpp"
#include "tasks/classify/words.hpp"

namespace attn::tasks::classify {
namespace {

/// What each word has in the texts of each label besides what it has there.
constexpr double kLittle = 0.1;

/// The TF-IDF weights of each word, summed over the texts of each label, [words, labels].
std::vector<double> weights_by_label(std::span<const Example> texts,
                                     const text::Tokeniser& words,
                                     std::span<const float> rarities,
                                     const std::map<std::string, std::size_t>& labels) {
  const WordTables tables(words, 1);
  std::vector<double> sums(rarities.size() * labels.size(), 0.0);
  for (const Example& example : texts) {
    const std::size_t label = labels.at(example.targets.front());
    const TextBatch batch = tables.batch_of({read_words(example.source)}, Device::cpu);
    const std::vector<float> weights = tf_idf_weights(batch, rarities);
    const auto ids = batch.ids.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < ids.size(); ++i)
      sums[static_cast<std::size_t>(ids[i]) * labels.size() + label] += weights[i];
  }
  return sums;
}

}  // namespace

Tensor votes_of(std::span<const Example> texts, const text::Tokeniser& words,
                const Tensor& rarities, const std::vector<std::string>& labels) {
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < labels.size(); ++i) numbers.emplace(labels[i], i);
  const std::vector<double> own =
      weights_by_label(texts, words, rarities.to_vector<float>(), numbers);
  const std::size_t count = labels.size();
  const std::size_t rows = own.size() / count;
  // Of all texts with another label.
  std::vector<double> rest(own.size());
  std::vector<double> all(count, 0.0);
  for (std::size_t word = 0; word < rows; ++word) {
    double sum = kLittle;
    for (std::size_t label = 0; label < count; ++label) sum += own[word * count + label];
    for (std::size_t label = 0; label < count; ++label) {
      const std::size_t at = word * count + label;
      rest[at] = sum - own[at];
      all[label] += rest[at];
    }
  }
  std::vector<float> votes(own.size());
  for (std::size_t word = 0; word < rows; ++word) {
    double mean = 0.0;
    for (std::size_t label = 0; label < count; ++label)
      mean -= std::log(rest[word * count + label] / all[label]) / static_cast<double>(count);
    for (std::size_t label = 0; label < count; ++label) {
      const std::size_t at = word * count + label;
      votes[at] = static_cast<float>(-std::log(rest[at] / all[label]) - mean);
    }
  }
  return Tensor::from(votes,
                      {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(count)});
}

}  // namespace attn::tasks::classify
