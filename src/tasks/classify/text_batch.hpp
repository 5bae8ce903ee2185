/// Texts as numbers: words of a vocabulary, and their pieces, which unknown words have, too.

#pragma once

// SPDX-License-Identifier: Apache-2.0

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

/// Texts, padded. Rows are sentences, those of a text behind one another.
struct TextBatch {
  std::int64_t texts = 0;
  std::int64_t sentences = 0;  ///< of a text, at most; 1 where texts are flat
  std::int64_t words = 0;      ///< of a sentence, at most
  Tensor ids;                  ///< i64 [texts * sentences, words]
  Tensor places;               ///< the same: the word among the different ones of the batch
  Tensor shapes;               ///< the same
  Tensor pieces;               ///< i64 [different words, most pieces]
  Tensor piece_counts;         ///< i64 [different words]
  Tensor word_lens;            ///< i64 [texts * sentences]
  Tensor sentence_lens;        ///< i64 [texts]
};

class WordTables {
 public:
  /// `buckets`: the rows that pieces are hashed to.
  WordTables(const text::Tokeniser& vocabulary, std::int64_t buckets);

  TextBatch batch_of(const std::vector<Reading>& readings, Device device) const;
  /// How many of its words the vocabulary does not have.
  std::size_t unknown_words(const Reading& reading) const;

 private:
  std::int64_t id_of(const std::string& key) const;
  void add_pieces(const std::vector<std::string>& keys, Device device, TextBatch& batch) const;

  std::int64_t buckets_;
  std::unordered_map<std::string, std::int64_t> ids_;
  /// Of the vocabulary's words, which are most of a text.
  std::unordered_map<std::string, std::vector<std::int64_t>> pieces_;
};

}  // namespace attn::tasks::classify
