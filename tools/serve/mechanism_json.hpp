/// The registry's entries as JSON.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>

#include "attn/nn/registry.hpp"

namespace attn::serve {

nlohmann::json mechanism_json(const nn::Mechanism& mechanism);
/// All of them, sorted by name.
nlohmann::json mechanisms_json();

}  // namespace attn::serve
