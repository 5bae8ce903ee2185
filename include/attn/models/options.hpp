/// What a sequence-to-sequence model is made of; every choice has a name for files and flags.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/nn/attention/luong_attention.hpp"

namespace attn::models {

enum class Kind {
  rnn,            ///< no attention: one vector is all the decoder knows of the source
  bahdanau,       ///< bidirectional GRU, additive attention before each step
  luong,          ///< LSTM, attention after each step
  convolutional,  ///< gated convolutions, attention in every decoder layer
  transformer,    ///< self-attention, norm in front
};
/// Of luong.
using Score = nn::LuongScore;
using Locality = nn::Locality;
using Feeding = InputFeeding;
/// Of the transformer. With none the encoder reads a bag of words; the decoder's causal mask
/// still tells it how many came before.
enum class Positions { sinusoidal, rotary, relative, none };
/// Of bahdanau and the transformer: whether words are copied from the source as well, and
/// whether what was looked at is remembered.
enum class Copy { none, pointer, coverage };
/// Whether source, target and output share one table; the vocabularies must be equal.
enum class Tie { none, output, all };

struct ModelOptions {
  Kind kind = Kind::transformer;
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::int64_t dim = 256;  ///< of embeddings and states
  std::int64_t encoder_layers = 2;
  std::int64_t decoder_layers = 2;
  std::int64_t heads = 4;           ///< of the transformer
  std::int64_t feed_forward = 512;  ///< of the transformer
  std::int64_t kernel = 3;          ///< width of a convolution
  std::int64_t window = 5;          ///< of local attention, on either side
  std::int64_t max_source = 64;  ///< longest source; the location score has a weight for each
  double dropout = 0.1;
  double word_dropout = 0.0;  ///< share of words that are not seen while training
  Score score = Score::general;
  Locality locality = Locality::global;  ///< "reach" in files and flags
  Feeding feeding = Feeding::on;
  Positions positions = Positions::rotary;
  Copy copy = Copy::none;
  Tie tie = Tie::output;

  bool operator==(const ModelOptions&) const = default;
};

/// The options as a JSON object, and back; an unknown name or value is an InvalidArgument that
/// lists what there is. Members left out keep their defaults.
std::string to_json(const ModelOptions& options);
ModelOptions from_json(std::string_view text, std::string_view where);

/// Sets one option by its name ("kind", "score", "dim", ...) as a flag would.
void set_option(ModelOptions& options, std::string_view name, std::string_view value);
/// The values an option with names may take; empty for numbers.
std::vector<std::string> option_values(std::string_view name);

/// InvalidArgument when the options do not fit together.
void validate(const ModelOptions& options);

}  // namespace attn::models
