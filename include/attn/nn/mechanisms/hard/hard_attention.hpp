/// Hard attention: one location is chosen instead of a mixture, and trained by the
/// score-function gradient. Xu et al., 2015, arXiv:1502.03044.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/module.hpp"
#include "attn/tensor/random.hpp"

namespace attn::nn {

/// What a draw gives. A row without locations has zeros everywhere.
struct HardLook {
  Tensor alpha;             ///< [batch, steps, locations] = softmax(scores)
  Tensor context;           ///< [batch, steps, dim]: the annotation that was drawn
  Tensor expected_context;  ///< sum of alpha * annotation, what soft attention would give
  Tensor log_prob;          ///< [batch, steps]: log alpha of the draw
  Tensor entropy;           ///< [batch, steps]: -sum of alpha log alpha
  Tensor sample;            ///< i64 [batch, steps]; -1 for a row without locations
};

/// The annotations of a given draw. scores [batch, steps, locations], annotations [batch,
/// locations, dim], sample i64 [batch, steps], lengths i64 [batch] or none. The context passes
/// gradient to the annotations alone. A location that is none of them throws; on the GPU
/// without lengths at the next wait, as ids do.
HardLook hard_attention(const Tensor& scores, const Tensor& annotations, const Tensor& sample,
                        const Tensor& lengths = {});

/// Its context alone: annotations[sample], 0 where the sample is -1.
Tensor annotations_at(const Tensor& annotations, const Tensor& sample);

/// One location for each row with the probabilities softmax(scores): i64 [batch, steps], -1
/// where there is none.
Tensor draw_locations(const Tensor& scores, const Tensor& lengths, Random& random);

struct HardBest {
  Tensor alpha;
  Tensor index;    ///< i64 [batch, steps]: the first of the largest, -1 for none
  Tensor context;  ///< no gradient to the scores
};
/// The most probable location, for use after training.
HardBest hard_attention_best(const Tensor& scores, const Tensor& annotations,
                             const Tensor& lengths = {});

struct ReinforceOptions {
  double lambda_r = 1.0;   ///< of the reward
  double lambda_e = 0.01;  ///< of the entropy
  double decay = 0.9;      ///< of the moving baseline
};

/// What a training step knows of its draws.
struct ReinforceInputs {
  Tensor scores;         ///< [batch, steps, locations]
  Tensor sample;         ///< i64 [batch, steps], the same draw as in the forward pass
  Tensor log_py;         ///< [batch]: log p(y | s) of each sequence
  Tensor baseline;       ///< [1]
  Tensor lengths{};      ///< i64 [batch]: locations, or none
  Tensor target_lens{};  ///< i64 [batch]: steps that count, or none
  Tensor use_soft{};     ///< boolean [batch]: took the expectation instead; or none
};
struct Reinforced {
  Tensor surrogate;     ///< [1]: minimise it
  Tensor new_baseline;  ///< [1], without gradient
};
/// surrogate = -mean_b (log_py + [not soft] lambda_r stop(log_py - baseline) sum_t log_prob
/// + lambda_e sum_t entropy); new_baseline = decay baseline + (1 - decay) mean(log_py).
Reinforced reinforce(const ReinforceInputs& in, const ReinforceOptions& options = {});

struct HardAttentionOptions {
  ReinforceOptions reinforce{};
  double soft_probability = 0.5;  ///< of a sequence to use the expectation while training
};

/// Ready to train: draws from a stream of its own, remembers nothing but the moving baseline,
/// which is a buffer and so is saved.
class HardAttention : public Module {
 public:
  explicit HardAttention(Random random, const HardAttentionOptions& options = {});

  struct Step {
    HardLook look;
    Tensor use_soft;  ///< boolean [batch]
    Tensor context;   ///< what the model goes on with: the draw, or the expectation
  };
  /// Training: a draw, or for some sequences the expectation. Else the most probable location.
  Step forward(const Tensor& scores, const Tensor& annotations, const Tensor& lengths = {});

  /// The surrogate of a step's draws, log_py [batch]; moves the baseline.
  Tensor loss(const Step& step, const Tensor& scores, const Tensor& log_py,
              const Tensor& lengths = {}, const Tensor& target_lens = {});

  const Tensor& baseline() const { return baseline_; }  ///< [1]

 private:
  HardAttentionOptions options_;
  Random random_;
  Tensor baseline_;
};

}  // namespace attn::nn
