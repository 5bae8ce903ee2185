/// What a captioner holds while it reads or speaks.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/models/captioner.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

struct Captioner::Source {
  Tensor annotations;  ///< [batch, places, channels]
  Tensor keys;         ///< [batch, places, score]: projected once
};

struct Captioner::State {
  Tensor hidden;  ///< [batch, hidden]
  Tensor cell;
};

struct Captioner::Step {
  Tensor hidden;  ///< [batch, 1, hidden], what asked
  Tensor scores;  ///< [batch, 1, places]
  Tensor alpha;   ///< their softmax
  Tensor gate;    ///< [batch, 1]
  Tensor places;  ///< i64 [batch, 1] of hard attention
  Tensor logits;  ///< [batch, vocabulary]
};

}  // namespace attn::models
