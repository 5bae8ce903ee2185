/// What is drawn of a parsed sentence.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <span>

#include "attn/maps/map.hpp"
#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {

/// The arcs over the words, their tags below. `weights` as of heads_map, or none.
maps::Map arcs_map(const Sentence& sentence, std::span<const float> weights);

/// How likely each place (a column, the root first) is the head of each word (a row): `weights`
/// [words, words + 1].
maps::Map heads_map(const Sentence& sentence, std::span<const float> weights);

}  // namespace attn::tasks::parse
