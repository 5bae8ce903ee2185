/// The reader of cloze: a text and a question become a probability for each name of the text.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::cloze {

/// Names that can be told apart in one text, the commonest first; 0 is no name.
inline constexpr std::int64_t kMostNames = 64;

struct Passage {
  std::vector<std::int64_t> text;            ///< words, of the vocabulary
  std::vector<std::int64_t> names;           ///< of each word of the text: 1, ... or 0
  std::vector<std::int64_t> question;        ///< words
  std::vector<std::int64_t> question_names;  ///< which of the text's names they are, or 0
  std::vector<std::string> candidates;       ///< name 1, ...
  std::vector<bool> can_be;  ///< name 1, ...: not in the question, so it may be the answer
};

struct ReaderOptions {
  std::string attention;  ///< "over" (attention over attention) or "sum" (attention sum)
  std::int64_t vocabulary = 0;
  std::int64_t words = 0;  ///< features of a word
  std::int64_t hidden = 0;
  double dropout = 0.0;
};

class Reader : public nn::Module {
 public:
  explicit Reader(const ReaderOptions& options);

  struct Result {
    Tensor scores;  ///< [batch, kMostNames + 1]: logarithms, of names that may be the answer
    Tensor alpha;   ///< [batch, words of the text, words of the question], or of one column
    Tensor s;       ///< [batch, words of the text]
  };
  Result operator()(std::span<const Passage> batch) const;

 private:
  Tensor states(const nn::Gru& rnn, const Tensor& words, const Tensor& names,
                const Tensor& lengths) const;

  ReaderOptions options_;
  nn::Embedding words_;
  nn::Embedding names_;  ///< how common a name is in its text
  nn::Gru text_;
  nn::Gru question_;
  nn::Dropout dropout_;
};

}  // namespace attn::tasks::cloze
