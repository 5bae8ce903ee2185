/// The network of paint: pictures that are read, completed, or painted from nothing.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "attn/tasks/network.hpp"

namespace attn::tasks::paint {

/// Members of "model": dim, layers, heads, feed_forward, dropout. FileError, which begins with
/// `where`, for what does not fit together.
std::shared_ptr<Network> make_network(const nlohmann::json& model, const std::string& where);

/// What an input may say besides its picture, each a number as text.
inline constexpr const char* kClass = "class";
inline constexpr const char* kSeed = "seed";
inline constexpr const char* kRows = "rows";
inline constexpr const char* kTemperature = "temperature";

}  // namespace attn::tasks::paint
