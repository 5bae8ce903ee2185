/// Captioner: writes what is on a picture, a word at a time, each with the weights of the place
/// it looked at. Xu et al., 2015, arXiv:1502.03044 ("Show, Attend and Tell").

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string_view>
#include <vector>

#include "attn/models/picture_encoder.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/hard/doubly_stochastic.hpp"
#include "attn/nn/mechanisms/hard/hard_attention.hpp"
#include "attn/nn/recurrent.hpp"

namespace attn::models {

/// soft: a mixture of all places, trained by backpropagation. hard: one place, trained by
/// REINFORCE and, when answering, the most probable.
enum class Looking { soft, hard };

Looking looking_named(std::string_view name);  ///< "soft", "hard"
const char* name_of(Looking looking);

struct CaptionerOptions {
  std::int64_t vocabulary = 0;  ///< with the marks of attn/models/seq2seq.hpp
  std::int64_t side = 64;       ///< of the square canvas, a multiple of 8
  std::int64_t channels = 48;   ///< of an annotation, a multiple of 3
  std::int64_t words = 32;      ///< size of a word's vector
  std::int64_t hidden = 128;    ///< of the LSTM
  std::int64_t score = 32;      ///< hidden size of the score
  Looking looking = Looking::soft;
};

/// Pictures with their captions; shorter captions end with kPad, which changes nothing. It lies
/// in the CPU's memory, wherever the model does.
struct CaptionBatch {
  Tensor canvas;  ///< [batch, side, side], 0 is background and 1 ink
  Tensor input;   ///< i64 [batch, steps]: kBos, then the caption
  Tensor target;  ///< i64 [batch, steps]: the caption, then kEos
};

struct CaptionLossOptions {
  double doubly = 0.002;  ///< weight of the doubly stochastic term, of soft attention
  nn::ReinforceOptions reinforce{.lambda_r = 1.0, .lambda_e = 0.01, .decay = 0.9};
  double soft_probability = 0.5;  ///< of a caption to use the mixture while hard is trained
};

/// What teacher forcing gives.
struct CaptionReading {
  Tensor logits;       ///< [batch, steps, vocabulary]
  Tensor log_py;       ///< [batch]: log p(caption | places looked at)
  Tensor scores;       ///< [batch, steps, places]; alpha is their softmax
  Tensor places;       ///< i64 [batch, steps] of hard attention
  Tensor regulariser;  ///< [batch]: sum over places of (1 - sum over steps of alpha)^2
};

struct Described {
  std::vector<std::int64_t> words;  ///< without kBos and kEos
  double log_probability = 0.0;
  /// [words + 1, places], row-major, the last row belongs to kEos. What pooled the picture:
  /// alpha, or 1 at the place of hard attention.
  std::vector<float> weights;
  std::vector<float> gates;  ///< beta of each step, how much the picture counted
  bool finished = false;     ///< met kEos before the longest caption
};

/// a = encoder(canvas), s_t = w . tanh(W_a a + W_h h_{t-1}), alpha_t = softmax(s_t),
/// z_t = beta_t (sum alpha_ti a_i, or a of one place), beta_t = sigmoid(f h_{t-1}),
/// h_t = LSTM([E y_{t-1}; z_t], h_{t-1}), logits = L_o(E y_{t-1} + L_h h_t + L_z z_t).
///
/// h_0 and c_0 come from a small map of the whole picture, not from the mean of its annotations
/// as in the paper: what is said first depends on where things are, which a mean forgets.
class Captioner : public nn::Module {
 public:
  explicit Captioner(const CaptionerOptions& options);

  /// soft: mean of -log p(word) + doubly * mean of the regulariser. hard, while training: the
  /// surrogate of REINFORCE, which moves the baseline; draws come from nn::random().
  Tensor loss(const CaptionBatch& batch, const CaptionLossOptions& options = {});

  /// `places` i64 [batch, steps] are looked at by hard attention; left out, the most probable.
  /// `use_soft` boolean [batch]: captions that use the mixture instead.
  CaptionReading read(const CaptionBatch& batch, const Tensor& places = {},
                      const Tensor& use_soft = {}) const;

  /// The surrogate of captions that looked at reading.places. Moves the baseline.
  Tensor reinforce(const CaptionBatch& batch, const CaptionReading& reading,
                   const nn::ReinforceOptions& options, const Tensor& use_soft = {});

  /// Greedy: the likeliest word at each step, kPad and kBos never. Rows do not change each
  /// other. Nothing is recorded on the tape.
  std::vector<Described> describe(const Tensor& canvases, std::int64_t longest) const;

  const CaptionerOptions& options() const { return options_; }
  /// The places are a square grid of so many rows and columns.
  std::int64_t grid() const { return encoder_.grid(); }

 private:
  Device device() const;

  struct Source;
  struct State;
  struct Step;
  enum class Choice { given, best, draw };

  Source begin(const Tensor& canvases, State& state) const;
  Step step(const Source& source, State& state, const Tensor& tokens, Choice choice,
            const Tensor& places, const Tensor& use_soft) const;
  CaptionReading run(const CaptionBatch& batch, Choice choice, const Tensor& places,
                     const Tensor& use_soft) const;

  CaptionerOptions options_;
  PictureEncoder encoder_;
  nn::Linear start_;
  nn::Embedding words_;
  nn::Linear query_;
  nn::Linear key_;
  nn::Linear score_;
  nn::DoublyStochasticAttention gate_;
  nn::Lstm rnn_;
  nn::Linear from_state_;
  nn::Linear from_picture_;
  nn::Linear out_;
  Tensor baseline_;  ///< [1], of REINFORCE
};

}  // namespace attn::models
