/// Listen, attend and spell: a pyramid of recurrent layers reads the frames of a sound, and a
/// speller writes tokens, each after a look at what was heard.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>

#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/applied/las_attention.hpp"
#include "attn/nn/mechanisms/applied/las_listener_layer.hpp"
#include "attn/nn/mechanisms/applied/location_aware.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::las {

/// Frames of a sound for one of the listener.
inline constexpr std::int64_t kReduction = 4;

/// Two layers of the pyramid, each half as long as the one below, and one more on top:
/// [batch, frames, kBands] -> [batch, frames / 4, 2 hidden].
class Listener : public nn::Module {
 public:
  Listener(std::int64_t hidden, double dropout);

  nn::Listened operator()(const Tensor& frames, const Tensor& lengths) const;

 private:
  nn::ListenerLayer lower_;
  nn::ListenerLayer upper_;
  nn::Lstm top_;
  nn::Dropout dropout_;
};

struct SpellerOptions {
  std::string attention = "additive";  ///< or "dot"
  std::string location = "convolved";  ///< or "none"
  std::int64_t vocabulary = 0;
  std::int64_t heard = 0;  ///< channels of the listener
  std::int64_t embedding = 32;
  std::int64_t hidden = 128;
  std::int64_t score = 64;    ///< hidden size of the score
  std::int64_t channels = 8;  ///< of the convolution over the weights
  std::int64_t width = 21;    ///< of its kernel
  double dropout = 0.0;
};

/// h_t = LSTM([E y_{t-1}; c_{t-1}], h_{t-1}), c_t = attention(h_t over what was heard, guided
/// by the weights before), logits_t = W tanh(M [h_t; c_t]).
///
/// Additive attention with location is Chorowski et al., 2015; without it the convolution
/// reads zeros, so that all else is the same. Dot is that of Chan et al., 2016.
class Speller : public nn::Module {
 public:
  explicit Speller(const SpellerOptions& options);

  /// What the steps share.
  struct Memory {
    nn::LocationMemory additive;
    Tensor heard;    ///< [rows, frames, channels]
    Tensor lengths;  ///< i64 [rows], or none

    /// The one row of it, so often.
    Memory repeated(std::int64_t rows) const;
  };
  struct State {
    Tensor hidden;  ///< [rows, hidden]
    Tensor cell;
    Tensor context;  ///< [rows, channels]
    Tensor weights;  ///< [rows, frames]: the last look
    Tensor guide;    ///< what location reads: those, or zeros

    State selected(const Tensor& rows) const;
  };

  Memory memory(const Tensor& heard, const Tensor& lengths) const;
  State begin(const Memory& memory) const;
  /// After one more token: i64 [rows].
  State step(const Memory& memory, const State& before, const Tensor& tokens) const;
  /// [rows, vocabulary].
  Tensor logits(const State& state) const;

  /// Teacher forcing: tokens i64 [batch, steps] -> logits [batch, steps, vocabulary].
  Tensor read(const Memory& memory, const Tensor& tokens) const;

 private:
  State next(const Memory& memory, const State& before, const Tensor& embedded) const;
  Attended look(const Memory& memory, const Tensor& query, const Tensor& guide) const;
  Tensor logits_of(const Tensor& hidden, const Tensor& context) const;

  bool guided_;
  nn::Embedding tokens_;
  nn::Lstm rnn_;
  std::optional<nn::LocationAwareAttention> additive_;
  std::optional<nn::LasAttention> dot_;
  nn::Linear mix_;
  nn::Linear out_;
  nn::Dropout dropout_;
};

}  // namespace attn::tasks::las
