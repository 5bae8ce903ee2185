/// The network of the taught transcriber: a sound in, characters or phones out, each with what
/// it looked at.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "attn/tasks/network.hpp"

namespace attn::tasks::las {

/// The vocabulary of a lexicon.
inline constexpr const char* kTokens = "tokens";

std::shared_ptr<Network> make_network(const nlohmann::json& model, const Lexicon& lexicon,
                                      const std::string& where);

}  // namespace attn::tasks::las
