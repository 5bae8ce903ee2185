/// The mechanisms of the family by file.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/registry.hpp"

namespace attn::nn::composed {

Mechanism cmla();
Mechanism memory_network();
Mechanism key_value_memory();
Mechanism multi_step_attention();
Mechanism multi_dimensional_attention();

}  // namespace attn::nn::composed
