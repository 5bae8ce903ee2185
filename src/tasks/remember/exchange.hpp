/// Words that may change places with each other: who goes where is as good a story of Mary as
/// of John. With it a thousand questions a task teach more.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <unordered_map>

#include "attn/tensor/random.hpp"

namespace attn::tasks::remember {

/// What becomes of each word that changes its place.
using Exchanged = std::unordered_map<std::string, std::string>;

/// Draws one for a story of that task; none of a task without such words.
Exchanged exchange(std::int64_t task, Random& random);

/// An answer with its words exchanged; it may name several between commas.
std::string exchanged(const std::string& answer, const Exchanged& words);

}  // namespace attn::tasks::remember
