/// One step of the listener's pyramid: neighbouring frames are joined, so that each layer is
/// half as long as the one below. Chan et al., 2016, arXiv:1508.01211.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/recurrent.hpp"

namespace attn::nn {

struct ListenerLayerOptions {
  std::int64_t in;      ///< of one frame
  std::int64_t hidden;  ///< of each direction
};

struct Listened {
  Tensor output;   ///< [batch, frames / 2, 2 hidden], 0 past the lengths
  Tensor lengths;  ///< i64 [batch]: half of those given, an odd last frame is dropped
};

/// output = LSTM both ways over [x_2t; x_2t+1]. The LSTM runs over time by its nature; its
/// steps are one fused op.
class ListenerLayer : public Module {
 public:
  explicit ListenerLayer(const ListenerLayerOptions& options);

  /// x [batch, frames, in], lengths i64 [batch] or none.
  Listened forward(const Tensor& x, const Tensor& lengths = {}) const;

 private:
  Lstm lstm_;  ///< "lstm", 2 in -> hidden, both directions
};

}  // namespace attn::nn
