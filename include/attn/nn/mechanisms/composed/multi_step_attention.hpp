/// Multi-step attention: every decoder layer looks at the source again. Gehring et al., 2017,
/// arXiv:1705.03122.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <vector>

#include "attn/nn/conv.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// The authors' rule that keeps variances: sqrt(1/2) on every sum, sqrt(m) on the context of m
/// source items.
enum class VarianceRule { none, authors };

struct MultiStepOptions {
  std::int64_t channels;   ///< of the decoder's states
  std::int64_t embed_dim;  ///< of the encoder and of embeddings
  std::int64_t layers = 1;
  std::int64_t kernel = 0;  ///< of the causal convolution in each layer; 0: none
  VarianceRule variance = VarianceRule::none;
};

struct MultiStepInputs {
  Tensor states;        ///< [batch, steps, channels]
  Tensor target_embed;  ///< g [batch, steps, embed_dim]
  Tensor enc_out;       ///< z [batch, source, embed_dim]
  Tensor enc_embed;     ///< e [batch, source, embed_dim]
  Tensor lengths{};     ///< i64 [batch], or none
};

struct MultiStepResult {
  Tensor output;        ///< [batch, steps, channels]
  Tensor weights;       ///< [batch, layers, steps, source]; not defined unless wanted
  Tensor mean_weights;  ///< [batch, steps, source]; so
};

/// d = W_in h + b + g, a = softmax(d . z), c = sum of a (z + e), h = h + W_out c + b. With a
/// convolution each layer first does it (zeros on the left) and a gated linear unit, and adds
/// its input at the end.
class MultiStepAttention : public Module {
 public:
  explicit MultiStepAttention(const MultiStepOptions& options);

  MultiStepResult forward(const MultiStepInputs& in, const Want& want = Want::output) const;

 private:
  struct Layer {
    std::optional<Conv1d> conv;
    Linear in_proj;
    Linear out_proj;
  };

  MultiStepOptions options_;
  std::vector<Layer> layers_;  ///< "layers.0", ...
};

}  // namespace attn::nn
