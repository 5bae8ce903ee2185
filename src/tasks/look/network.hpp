/// The network of look: a reader of scenes behind pictures, labels and the path of glimpses.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "attn/tasks/network.hpp"

namespace attn::tasks::look {

/// Members of "model": scene, kind, policy, glimpses, patch, scales, what, where, hidden,
/// sigma, reinforce, core. FileError, which begins with `where`, for what is missing.
std::shared_ptr<Network> make_network(const nlohmann::json& model, const std::string& where);

/// Among the numbers of an answer: the cost of it.
inline constexpr const char* kMultiplyAdds = "multiply_adds";

}  // namespace attn::tasks::look
