/// The recurrent encoder: words become states.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/embedding.hpp"
#include "attn/nn/recurrent.hpp"

namespace attn::nn {

struct RnnEncoderOptions {
  std::int64_t vocabulary;
  std::int64_t embedding;
  std::int64_t hidden;
  std::int64_t layers = 1;
};

/// h_t = GRU(x_t, h_{t-1}). Cho et al., 2014, arXiv:1406.1078.
class RnnEncoder : public Module {
 public:
  explicit RnnEncoder(const RnnEncoderOptions& options);

  /// source i64 [batch, words] -> out [batch, words, hidden], 0 past the lengths, and the last
  /// valid state of each layer [layers, batch, hidden].
  GruResult forward(const Tensor& source, const Tensor& lengths = {}) const;

 private:
  Embedding embedding_;  ///< "embedding"
  Gru rnn_;              ///< "rnn"
};

}  // namespace attn::nn
