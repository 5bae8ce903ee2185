/// What a mechanism gives on its own small example, as a matrix that can be drawn.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>

#include "attn/nn/registry.hpp"

namespace attn::serve {

/// {"of": "weights", "kind": "weights" or "output", "shape": [2, 3, 5], "numbers": [[…], …]}:
/// its weights, or its first output where it has none. Of more than two axes the first entries
/// are taken. The same numbers every time. Null for a mechanism without an example.
nlohmann::json mechanism_picture(const nn::Mechanism& mechanism);

}  // namespace attn::serve
