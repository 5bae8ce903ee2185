/// The layers of chat: words make turns, turns a dialogue, and a GRU writes what comes next
/// while it looks back at turns and at their words.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/classify/text_batch.hpp"

namespace attn::tasks::chat {

/// What the writer looks at: turns, then the words of each; all words at once; nothing.
enum class Attention { hierarchical, flat, none };
const std::vector<std::string>& attention_names();

struct LayerOptions {
  Attention attention = Attention::hierarchical;
  std::int64_t words = 0;    ///< rows of the words that are read
  std::int64_t outputs = 0;  ///< words that are written
  std::int64_t dim = 0;      ///< of a word
  std::int64_t hidden = 0;   ///< of each direction of the reader
  std::int64_t state = 0;    ///< of the dialogue, and of the writer
  std::int64_t pieces = 0;   ///< rows that letters are hashed to
  std::int64_t matches = 0;  ///< rows that equal words are weighed by
  double dropout = 0.0;
  double word_dropout = 0.0;
  Tensor first_matches{};  ///< what those rows begin with; none: ones
};

/// Dialogues that were read.
struct Encoding {
  std::int64_t dialogues = 0;
  std::int64_t turns = 0;  ///< of a dialogue, padded
  std::int64_t words = 0;  ///< of a turn, padded
  Tensor states;           ///< [dialogues, turns, words, 2 hidden]
  Tensor there;            ///< boolean [dialogues, turns, 1, words]: a word, not padding
  Tensor pooled;           ///< [dialogues, turns, 2 hidden]: each turn by itself
  Tensor turn_states;      ///< [dialogues, turns, state]: and all before it
  Tensor word_keys;        ///< [dialogues, turns, words, state], with attention

  /// Those dialogues, i64 [rows].
  Encoding select(const Tensor& rows) const;
};

/// What queries looked at.
struct WordAttention {
  Tensor context;       ///< [dialogues, queries, 2 hidden]
  Tensor weights;       ///< [dialogues, queries, turns * words]; a row sums to 1
  Tensor turn_weights;  ///< [dialogues, queries, turns], of hierarchical
  Tensor word_weights;  ///< [dialogues, turns, queries, words], so: within the turn
};

/// Equal words of dialogues and replies: which of the words of a batch each has.
struct Matches {
  Tensor bins;     ///< i64 [words]: their rows
  Tensor so_far;   ///< [dialogues, positions, words]: 1 where some turn has it
  Tensor last;     ///< the same of the last turn
  Tensor replies;  ///< [replies, words]
};

class Layers : public nn::Module {
 public:
  explicit Layers(const LayerOptions& options);

  bool looks() const { return options_.attention != Attention::none; }

  Encoding read(const classify::TextBatch& dialogues) const;
  /// Each row of texts by itself, as Encoding::pooled has a turn: [texts, 2 hidden].
  Tensor pooled(const classify::TextBatch& texts) const;

  /// What a writer begins with behind some turns: positions i64 [rows], dialogue * turns +
  /// turn.
  Tensor begin(const Encoding& encoding, const Tensor& positions) const;
  struct Steps {
    Tensor inputs;  ///< [rows, steps, dim]
    Tensor states;  ///< [rows, steps, state]
    Tensor last;    ///< [rows, state]
  };
  Steps write(const classify::TextBatch& words, const Tensor& begin) const;

  /// queries [dialogues, queries, state]; `open` boolean [dialogues, queries, turns] has the
  /// turns that each may see.
  WordAttention look(const Encoding& encoding, const Tensor& queries, const Tensor& open) const;
  /// The probability to write a word of one's own rather than to copy: [dialogues, queries].
  Tensor gate(const WordAttention& attention, const Tensor& states, const Tensor& inputs) const;
  Tensor logits(const WordAttention& attention, const Tensor& states,
                const Tensor& inputs) const;

  /// How well each reply (pooled, [replies, 2 hidden]) goes on behind some turns:
  /// [dialogues, positions, replies]. `positions` i64 [dialogues, positions] are turns, `open`
  /// boolean [dialogues, positions, turns] those up to them.
  Tensor choose(const Encoding& encoding, const Tensor& replies, const Tensor& positions,
                const Tensor& open, const Matches& matches) const;

 private:
  /// What replies are compared by.
  struct Chooser {
    nn::Linear dialogue;
    nn::Linear reply;
  };
  /// With attention besides: a reply looks at the turns, and at words that it shares.
  struct Looker {
    nn::Linear query;
    nn::Linear key;
    nn::Linear value;
    nn::Linear reply;
    Tensor match;        ///< [rows]: of words of the dialogue
    Tensor match_last;   ///< [rows]: of its last turn
    Tensor match_scale;  ///< [2]
  };

  Tensor embedded(const classify::TextBatch& texts) const;
  Tensor pool(const Tensor& states, const Tensor& lengths) const;
  Tensor shared_words(const Matches& matches) const;
  Tensor joined(const WordAttention& attention, const Tensor& states,
                const Tensor& inputs) const;
  WordAttention attend_flat(const Encoding& encoding, const Tensor& queries,
                            const Tensor& open) const;
  WordAttention attend_down(const Encoding& encoding, const Tensor& queries,
                            const Tensor& open) const;

  LayerOptions options_;
  nn::Dropout dropout_;
  Tensor table_;     ///< [words, dim]
  Tensor pieces_;    ///< [pieces, dim]
  Tensor speakers_;  ///< [2, state / 4]
  nn::Gru reader_;
  nn::Gru dialogue_;
  nn::Linear begin_;
  nn::Gru writer_;
  nn::Linear read_out_;
  nn::Linear out_;
  Chooser chooser_;
  // With attention.
  std::optional<nn::Linear> hidden_;  ///< of what makes a turn of its words
  Tensor query_;                      ///< so
  std::optional<nn::Linear> word_query_;
  std::optional<nn::Linear> word_key_;
  std::optional<nn::AdditiveScore> turn_score_;  ///< of hierarchical
  std::optional<nn::Linear> gate_;
  std::optional<Looker> looker_;
};

}  // namespace attn::tasks::chat
