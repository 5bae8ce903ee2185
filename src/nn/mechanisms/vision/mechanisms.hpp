/// The mechanisms of the family by file.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/registry.hpp"

namespace attn::nn::vision {

Mechanism non_local_block();

Mechanism co_attention_parallel();
Mechanism co_attention_alternating();
Mechanism question_hierarchy();
Mechanism hierarchical_answer();

}  // namespace attn::nn::vision
