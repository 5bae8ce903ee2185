/// What `write` learns from: speeches, package descriptions, Dante, or a text of the user's
/// own.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "tasks/write/passages.hpp"

namespace attn::tasks {

/// The files that no package has: Dante, and the small Llama with its tokens.
const PreparedFile& dante_file();
const PreparedFile& stories_file();
const PreparedFile& stories_tokens_file();

/// Of a name that --variant takes.
Corpus written_corpus(std::string_view variant, const Say& say);

/// A user's own text, in parts by blocks of it. FileError, which names the line, for what is no
/// text, and for one that is too short.
Corpus own_text(const std::string& path, const Say& say);

/// Documents in order fall into parts: the fifth of every ten is test, the tenth of every
/// twenty development.
Corpus in_parts(const std::string& name, const std::vector<Document>& documents);

/// The cantos of the Comedy; each begins with its heading.
std::vector<Document> cantos(std::string_view text);

/// "1861_abraham_lincoln_r.json": "abraham_lincoln".
std::string_view president_of(std::string_view file);

}  // namespace attn::tasks
