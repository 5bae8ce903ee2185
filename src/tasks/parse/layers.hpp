/// The layers of the parser: words become states, states become tags, arcs and relations.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/nn/conv.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/pointer/biaffine_attention.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::parse {

/// How a word finds its head.
enum class Arcs {
  biaffine,  ///< it attends to all words
  offsets    ///< it tells how far away the head is, from its own state alone: no attention
};

struct ParserOptions {
  std::int64_t words;       ///< of the table, marks included
  std::int64_t characters;  ///< likewise
  std::int64_t tags;
  std::int64_t relations;
  std::int64_t word_size;
  std::int64_t character_size;
  std::int64_t spelling_size;  ///< what the characters of a word become
  std::int64_t tag_size;
  std::int64_t state;  ///< of each direction of the recurrent layers
  std::int64_t layers;
  std::int64_t arc_size;
  std::int64_t relation_size;
  double drop;
  Arcs arcs = Arcs::biaffine;
};

/// Sentences as numbers, padded. Place 0 of each is the root, before the first word.
struct WordBatch {
  Tensor words;      ///< i64 [batch, places]
  Tensor spellings;  ///< i64 [batch, places]: rows of `letters`
  Tensor letters;    ///< i64 [different words, characters]
  Tensor letter_lengths;
  Tensor lengths;  ///< i64 [batch]: words and the root
};

struct WordStates {
  Tensor tag_logits;  ///< [batch, places, tags]
  Tensor states;      ///< [batch, places, 2 state]
};

/// Words by a table of the frequent ones and by a convolution over their characters, then
/// recurrent layers in both directions; the first of them tells the tags, the others read them.
class WordEncoder : public nn::Module {
 public:
  explicit WordEncoder(const ParserOptions& options);

  WordStates forward(const WordBatch& batch) const;

 private:
  Tensor spelling(const WordBatch& batch) const;

  nn::Embedding words_;
  nn::Embedding characters_;
  nn::Conv1d letters_;
  nn::Linear tags_;
  nn::Linear tag_table_;
  nn::Dropout dropout_;
  std::vector<nn::Lstm> layers_;
};

/// Where each word (a row, from the first) finds its head among the places.
class ArcScores : public nn::Module {
 public:
  explicit ArcScores(const ParserOptions& options);

  nn::Biaffine forward(const WordBatch& batch, const Tensor& states,
                       const Tensor& heads = {}) const;

 private:
  nn::Biaffine by_offset(const WordBatch& batch, const Tensor& states,
                         const Tensor& heads) const;

  Arcs arcs_;
  std::vector<nn::BiaffineAttention> biaffine_;  ///< one or none
  std::vector<nn::Linear> offsets_;              ///< none or one
};

}  // namespace attn::tasks::parse
