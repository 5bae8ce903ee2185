/// Softmax whose weights are dropped while a module trains.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// Draws from this thread's stream only where something is dropped.
inline spec::Normaliser softmax_with_dropout(const Module& module, double probability) {
  if (!module.training() || probability == 0.0) return spec::softmax();
  return spec::softmax({.dropout = probability, .key = random().next()});
}

}  // namespace attn::nn
