/// The mechanisms that equal torch's modules.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/registry.hpp"

namespace attn::nn {

Mechanism torch_multihead_mechanism();
Mechanism encoder_layer_mechanism();
Mechanism decoder_layer_mechanism();

}  // namespace attn::nn
