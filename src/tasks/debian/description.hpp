/// The text of a package description: paragraphs, list items, sentences.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/debian/index.hpp"

namespace attn::tasks {

/// Whether it is made by a machine or says nothing.
bool is_boilerplate(const Description& description);

/// Its units, which are runs of lines that belong together: prose, an item of a list, a line
/// kept as it is.
using Paragraph = std::vector<std::string>;

/// The paragraphs of the lines below a synopsis, each cut into its units. ` .` ends a
/// paragraph; a line with a bullet begins an item, which deeper lines continue; other indented
/// lines stand for themselves. White space becomes one space.
std::vector<Paragraph> paragraphs_of(std::string_view body);

/// A unit without its bullet.
std::string_view without_bullet(std::string_view unit);

/// Cut behind . ! ? before a capital, a digit or a quotation; not behind initials and
/// abbreviations. Joined by spaces the pieces are the text again.
std::vector<std::string> sentences_of(std::string_view text);

/// White space becomes one space, none around.
std::string one_line(std::string_view text);

/// How many words stand between spaces.
int word_count(std::string_view text);

}  // namespace attn::tasks
