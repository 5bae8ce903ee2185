// Texts as numbers.

#include "tasks/classify/text_batch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/classify/words.hpp"

namespace attn::tasks::classify {

WordTables::WordTables(const text::Tokeniser& vocabulary, std::int64_t buckets)
    : buckets_(buckets) {
  for (std::int64_t id = text::Mark::unknown + 1; id < vocabulary.size(); ++id) {
    const std::string word = vocabulary.label(id);
    ids_.emplace(word, id);
    pieces_.emplace(word, pieces_of(word, buckets));
  }
}

std::size_t WordTables::unknown_words(const Reading& reading) const {
  std::size_t count = 0;
  for (const auto& sentence : reading.sentences)
    for (const std::string& word : sentence)
      count += id_of(key_of(word)) == text::Mark::unknown ? 1 : 0;
  return count;
}

std::int64_t WordTables::id_of(const std::string& key) const {
  const auto at = ids_.find(key);
  return at == ids_.end() ? std::int64_t{text::Mark::unknown} : at->second;
}

TextBatch WordTables::batch_of(const std::vector<Reading>& readings, Device device) const {
  TextBatch batch;
  batch.texts = static_cast<std::int64_t>(readings.size());
  std::vector<std::int64_t> sentence_lens;
  std::size_t most_sentences = 1;
  std::size_t most_words = 1;
  for (const Reading& reading : readings) {
    most_sentences = std::max(most_sentences, reading.sentences.size());
    sentence_lens.push_back(static_cast<std::int64_t>(reading.sentences.size()));
    for (const auto& words : reading.sentences) most_words = std::max(most_words, words.size());
  }
  batch.sentences = static_cast<std::int64_t>(most_sentences);
  batch.words = static_cast<std::int64_t>(most_words);
  const std::size_t rows = readings.size() * most_sentences;
  std::vector<std::int64_t> ids(rows * most_words, text::Mark::pad);
  std::vector<std::int64_t> places(ids.size(), 0);
  std::vector<std::int64_t> shapes(ids.size(), 0);
  std::vector<std::int64_t> word_lens(rows, 0);
  std::unordered_map<std::string, std::int64_t> different;
  std::vector<std::string> keys;
  for (std::size_t text = 0; text < readings.size(); ++text)
    for (std::size_t s = 0; s < readings[text].sentences.size(); ++s) {
      const auto& words = readings[text].sentences[s];
      const std::size_t row = text * most_sentences + s;
      word_lens[row] = static_cast<std::int64_t>(words.size());
      for (std::size_t i = 0; i < words.size(); ++i) {
        const std::size_t at = row * most_words + i;
        const std::string key = key_of(words[i]);
        const auto [place, is_new] =
            different.emplace(key, static_cast<std::int64_t>(keys.size()));
        if (is_new) keys.push_back(key);
        ids[at] = id_of(key);
        places[at] = place->second;
        shapes[at] = shape_of(words[i]);
      }
    }
  const Shape shape{static_cast<std::int64_t>(rows), batch.words};
  batch.ids = Tensor::from(ids, shape).to(device);
  batch.places = Tensor::from(places, shape).to(device);
  batch.shapes = Tensor::from(shapes, shape).to(device);
  batch.word_lens = Tensor::from(word_lens, {static_cast<std::int64_t>(rows)}).to(device);
  batch.sentence_lens = Tensor::from(sentence_lens, {batch.texts}).to(device);
  add_pieces(keys, device, batch);
  return batch;
}

void WordTables::add_pieces(const std::vector<std::string>& keys, Device device,
                            TextBatch& batch) const {
  std::vector<std::vector<std::int64_t>> pieces;
  std::vector<std::int64_t> counts;
  std::size_t most = 1;
  for (const std::string& key : keys) {
    const auto known = pieces_.find(key);
    pieces.push_back(known != pieces_.end() ? known->second : pieces_of(key, buckets_));
    counts.push_back(static_cast<std::int64_t>(pieces.back().size()));
    most = std::max(most, pieces.back().size());
  }
  std::vector<std::int64_t> table(keys.size() * most, 0);
  for (std::size_t i = 0; i < keys.size(); ++i)
    std::copy(pieces[i].begin(), pieces[i].end(),
              table.begin() + static_cast<std::ptrdiff_t>(i * most));
  const auto count = static_cast<std::int64_t>(keys.size());
  batch.pieces = Tensor::from(table, {count, static_cast<std::int64_t>(most)}).to(device);
  batch.piece_counts = Tensor::from(counts, {count}).to(device);
}

}  // namespace attn::tasks::classify
