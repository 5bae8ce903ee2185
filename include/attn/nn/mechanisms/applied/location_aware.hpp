/// Location-aware attention of speech recognition: the weights of the step before, run through
/// a convolution, guide the next. Chorowski et al., 2015, arXiv:1506.07503.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/conv.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// How the energies of a step become weights.
enum class LocationNormaliser {
  softmax,  ///< softmax(sharpening * e)
  smooth,   ///< sigmoid(e) / sum sigmoid(e) over the valid frames
};

struct LocationAwareOptions {
  std::int64_t encoder_dim;
  std::int64_t query_dim;
  std::int64_t hidden;
  std::int64_t channels;
  std::int64_t width;  ///< of the convolution, 2 r + 1
  LocationNormaliser normaliser = LocationNormaliser::softmax;
  double sharpening = 1.0;
};

/// What the steps share, made once for a sequence.
struct LocationMemory {
  Tensor values;   ///< [batch, frames, encoder_dim]
  Tensor keys;     ///< V h, [batch, frames, hidden]
  Tensor lengths;  ///< i64 [batch], or none
  Tensor weights;  ///< [batch, frames]: before the first step, uniform over the valid frames
};

/// f = F * a_prev, e_j = w^T tanh(W s + V h_j + U f_j + b).
///
/// It loops over time because the weights of a step are an input of the next; W s of all steps
/// and V h are made before the loop.
class LocationAwareAttention : public Module {
 public:
  explicit LocationAwareAttention(const LocationAwareOptions& options);

  /// encoder [batch, frames, encoder_dim], queries [batch, steps, query_dim]: one decoder state
  /// a step. Gives output and weights.
  Attended forward(const Tensor& encoder, const Tensor& queries,
                   const Tensor& lengths = {}) const;

  LocationMemory memory(const Tensor& encoder, const Tensor& lengths = {}) const;
  /// One step: query [batch, query_dim] and the weights before it [batch, frames] -> output
  /// [batch, encoder_dim] and weights [batch, frames].
  Attended step(const LocationMemory& memory, const Tensor& query,
                const Tensor& previous) const;

 private:
  /// With W s + b, [batch, 1, hidden]; results keep that axis.
  Attended look(const LocationMemory& memory, const Tensor& query,
                const Tensor& previous) const;

  LocationNormaliser normaliser_;
  double sharpening_;
  Linear w_query_;  ///< "W" [hidden, query_dim], with the bias b
  Linear v_;        ///< "V" [hidden, encoder_dim], no bias
  Linear u_;        ///< "U" [hidden, channels], no bias
  Conv1d conv_;     ///< "conv" [channels, 1, width], no bias
  Tensor w_;        ///< "w" [hidden]
};

}  // namespace attn::nn
