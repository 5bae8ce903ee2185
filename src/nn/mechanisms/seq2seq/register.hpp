/// The mechanisms of seq2seq that have files of their own.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/registry.hpp"

namespace attn::nn {

Mechanism rnnsearch_mechanism();
Mechanism luong_mechanism();

}  // namespace attn::nn
