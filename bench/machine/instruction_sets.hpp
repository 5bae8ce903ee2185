/// The instruction sets that this build holds and this machine runs.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string_view>
#include <vector>

#include "isa/kernels.hpp"

namespace attn::bench {

/// Best first; never empty on a machine that attn supports.
std::vector<const Kernels*> instruction_sets();

/// The table of a set by name. Throws std::invalid_argument, naming those there are.
const Kernels& instruction_set(std::string_view name);

}  // namespace attn::bench
