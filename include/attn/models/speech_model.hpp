/// SpeechModel: from the samples of a sound to words, an encoder over frames of learnt
/// convolutions and a decoder that attends to them. Jeffries et al., 2024, arXiv:2410.15608
/// (Moonshine).

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "attn/nn/conv.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

struct SpeechModelOptions {
  std::int64_t dim = 288;
  std::int64_t encoder_layers = 6;
  std::int64_t decoder_layers = 6;
  std::int64_t heads = 8;
  std::int64_t encoder_features = 1152;  ///< between the projections of the encoder's layers
  std::int64_t decoder_features = 1152;  ///< so of the decoder's, which are gated
  std::int64_t vocabulary = 32768;
  std::int64_t rotary_dim = 32;  ///< channels of a head that turn with the position
  double rotary_base = 10000.0;
  double norm_eps = 1e-5;

  struct Convolution {
    std::int64_t kernel;
    std::int64_t stride;
  };
  /// They make a frame of 384 samples; the middle one has twice as many channels.
  std::array<Convolution, 3> stem{{{127, 64}, {7, 3}, {3, 2}}};
};

/// InvalidArgument, which names the option, for what does not fit.
void validate(const SpeechModelOptions& options);

/// frames = gelu(c3(gelu(c2(norm(tanh(c1(samples))))))), the norm over all channels and places
/// at once; layers with norms in front and rotary positions on a share of the channels of each
/// head; logits through the table of the words.
class SpeechModel : public nn::Module {
 public:
  explicit SpeechModel(const SpeechModelOptions& options);

  const SpeechModelOptions& options() const { return options_; }
  std::int64_t frames(std::int64_t samples) const;  ///< 0: too few
  std::int64_t least_samples() const;               ///< of one frame
  std::int64_t samples_a_frame() const;

  /// f32 [batch, samples], at least least_samples() -> [batch, frames, dim].
  Tensor encode(const Tensor& samples) const;
  /// Teacher forcing: tokens i64 [batch, positions] over the encoder's frames -> [batch,
  /// positions, vocabulary].
  Tensor logits(const Tensor& frames, const Tensor& tokens) const;
  /// What each of the tokens looked at, for every layer [batch, heads, positions, frames].
  std::vector<Tensor> weights(const Tensor& frames, const Tensor& tokens) const;

  /// One token after another; the frames are read once. The model must outlive it.
  class Decoding {
   public:
    Decoding(const SpeechModel& model, const Tensor& frames);
    ~Decoding();
    Decoding(Decoding&&) noexcept;
    Decoding& operator=(Decoding&&) noexcept;

    /// The logits behind this token, [vocabulary].
    Tensor step(std::int64_t token);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Packed;

  Tensor decode(const Tensor& frames, const Tensor& tokens, std::vector<Tensor>* weights) const;
  RotaryTable turns(std::int64_t first, std::int64_t count) const;

  SpeechModelOptions options_;
  nn::Conv1d first_;
  Tensor group_scale_;  ///< [dim, 1]
  Tensor group_shift_;
  nn::Conv1d second_;
  nn::Conv1d third_;
  std::vector<nn::TransformerLayer> encoder_;
  nn::LayerNorm encoder_norm_;
  nn::Embedding words_;
  std::vector<nn::TransformerLayer> decoder_;
  nn::LayerNorm decoder_norm_;
  Tensor words_bias_;               ///< zeros, for products that take one
  std::shared_ptr<Packed> packed_;  ///< weights laid out for decoding
};

}  // namespace attn::models
