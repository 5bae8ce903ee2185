/// Pointer-generator: each word is generated from the vocabulary or copied from the source, and
/// coverage remembers what was looked at. See, Liu and Manning, 2017, arXiv:1704.04368.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// Whether the score looks at what earlier steps looked at.
enum class Coverage { off, on };

struct PointerGeneratorOptions {
  std::int64_t encoder_dim;
  std::int64_t decoder_dim;
  std::int64_t input_dim;
  std::int64_t hidden;
  Coverage coverage = Coverage::on;  ///< off: there is no w_c
};

struct PointerGeneratorInputs {
  Tensor encoder_states;  ///< [batch, source, encoder_dim]
  Tensor decoder_states;  ///< [batch, steps, decoder_dim]
  Tensor decoder_inputs;  ///< [batch, steps, input_dim]
  Tensor vocab_logits;    ///< [batch, steps, vocabulary]
  Tensor src_ids;         ///< i64 [batch, source]; those past the vocabulary are extra words
  Tensor lengths{};       ///< i64 [batch] of the source
  Tensor targets{};       ///< i64 [batch, steps], extra words too; left out: no losses
  Tensor target_lens{};   ///< i64 [batch]; losses past it are 0
  std::int64_t extra_words = 0;
  double eps = 1e-12;  ///< inside the logarithm: p_gen may saturate
  /// Of a module with w_c. With coverage from the first step training does not converge; the
  /// paper switches it on late.
  Coverage coverage = Coverage::on;
  // To go on from an earlier step, as decoding does:
  Tensor keys{};       ///< keys(encoder_states, lengths), made once
  Tensor looked_at{};  ///< covered of the step before; none: nothing was looked at
  // To steer it:
  Mask keep{};               ///< beside the lengths
  double temperature = 1.0;  ///< scores are divided by it
};

struct PointerGenerated {
  Tensor weights;        ///< [batch, steps, source]
  Tensor context;        ///< [batch, steps, encoder_dim]
  Tensor coverage;       ///< [batch, steps, source], before each step
  Tensor covered;        ///< [batch, source], after the last step
  Tensor p_gen;          ///< [batch, steps]
  Tensor final_dist;     ///< [batch, steps, vocabulary + extra_words]
  Tensor nll;            ///< [batch, steps], with targets
  Tensor coverage_loss;  ///< [batch, steps]
};

/// e_i = v^T tanh(W_h h_i + W_s s_t + w_c c_i + b), a = softmax(e), ctx = sum a h,
/// p_gen = sigmoid(gen_h ctx + gen_s s_t + gen_x x_t + gen_b),
/// P(w) = p_gen softmax(vocab)(w) + (1 - p_gen) sum_{i: id_i = w} a_i, c_t = sum_{t' < t} a_t'.
///
/// With coverage it loops over time, since the weights of a step enter the scores of the next;
/// W_h h is made once. Without, all steps are one call of attend. A word that occurs twice in
/// the source gets both weights. An empty source leaves the copied part 0: P sums to p_gen.
class PointerGenerator : public Module {
 public:
  explicit PointerGenerator(const PointerGeneratorOptions& options);

  /// W_h h, [batch, source, hidden].
  Tensor keys(const Tensor& encoder_states, const Tensor& lengths = {}) const;

  /// Any number of steps; decoding calls it with one and hands `covered` on as `looked_at`.
  PointerGenerated forward(const PointerGeneratorInputs& in) const;

 private:
  void look_with_coverage(const PointerGeneratorInputs& in, const Tensor& values,
                          const Tensor& keys, PointerGenerated& made) const;
  void look_without(const PointerGeneratorInputs& in, const Tensor& values, const Tensor& keys,
                    PointerGenerated& made) const;
  spec::Score score(const PointerGeneratorInputs& in) const;
  void mix(const PointerGeneratorInputs& in, PointerGenerated& made) const;

  Linear w_h_;    ///< "W_h" [hidden, encoder_dim], no bias
  Linear w_s_;    ///< "W_s" [hidden, decoder_dim]; its bias is the paper's b_attn
  Tensor v_;      ///< "v" [hidden]
  Tensor w_c_;    ///< "w_c" [hidden], or none
  Linear gen_h_;  ///< "gen_h", "gen_s", "gen_x": [1, dim], no bias
  Linear gen_s_;
  Linear gen_x_;
  Tensor gen_b_;  ///< "gen_b" [1]
};

}  // namespace attn::nn
