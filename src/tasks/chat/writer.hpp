/// Writer: the layers of chat as a model that the search knows, whose words are those of the
/// vocabulary and, behind them, those of the dialogue that it can only copy.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/chat/batch.hpp"
#include "tasks/chat/layers.hpp"
#include "tasks/chat/vocabulary.hpp"

namespace attn::tasks::chat {

/// Words of a dialogue that the vocabulary does not have, in the order of their first places:
/// their tokens come behind those of the vocabulary.
WordList extra_words(const Dialogue& dialogue, const Vocabulary& vocabulary);

class Writer final : public models::Seq2Seq {
 public:
  /// All must outlive it. `start` is kReply or kState.
  Writer(const Layers& layers, const Vocabulary& vocabulary, const Encoding& encoding,
         const std::vector<Dialogue>& dialogues, const char* start);

  /// The search reads no words: a row of its source is the number of a dialogue.
  std::vector<std::vector<models::Hypothesis>> search(const models::SearchOptions& options);
  /// A line of a dialogue as it looks; copied words are those of the place that was looked at
  /// most.
  WordList words_of(std::size_t dialogue, const models::Hypothesis& line) const;
  /// Without padding: [tokens + 1, words of the dialogue]; empty without attention.
  std::vector<float> weights_of(std::size_t dialogue, const models::Hypothesis& line) const;

  Tensor loss(const models::Batch& batch, const models::LossOptions& options) const override;
  std::unique_ptr<models::Decoding> decode(const Tensor& source,
                                           const Tensor& lengths) const override;

 private:
  class Lines;

  const std::string& form_at(std::size_t dialogue, std::int64_t token) const;
  std::string look_of(std::size_t dialogue, const std::string& form,
                      const float* weights) const;

  const Layers& layers_;
  const Vocabulary& vocabulary_;
  const Encoding& encoding_;
  const std::vector<Dialogue>& dialogues_;
  std::string start_;
  std::vector<WordList> extra_;  ///< words of each dialogue that the vocabulary does not have
  std::vector<std::string> forms_;
  std::int64_t tokens_ = 0;  ///< of the vocabulary and the most extra words
  Tensor ids_;               ///< i64 [dialogues, turns * words]
  Tensor open_;              ///< boolean [dialogues, 1, turns]
  Tensor begin_;             ///< [dialogues, state]
};

}  // namespace attn::tasks::chat
