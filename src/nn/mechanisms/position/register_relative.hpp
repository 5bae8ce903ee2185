/// The mechanisms whose scores know the distance of query and key.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/registry.hpp"

namespace attn::nn {

Mechanism shaw_mechanism();
Mechanism skew_mechanism();
Mechanism t5_mechanism();
Mechanism alibi_mechanism();

}  // namespace attn::nn
