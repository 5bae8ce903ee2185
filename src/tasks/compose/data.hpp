/// The music that compose learns from: chorales in steps of a quarter, tunes in ABC.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <string_view>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"

namespace attn::tasks::compose {

PreparedFile chorales_file();
PreparedFile tunes_file();

/// Of prepared files, unpacked. Lines of another grid than quarters are skipped. FileError,
/// which names the line, for what is no such file.
Corpus parse_chorales(std::string_view text);
/// Tunes of one name share a part: a tenth each is development and test. Longer ones than
/// `most` characters are left out.
Corpus parse_tunes(std::string_view text, std::size_t most);

/// A file of ABC, where X: begins a piece; of chorales what sounds in each quarter. A fifth of
/// the pieces, each fifth one, is held out. FileError, which begins with `where`.
Corpus parse_own(std::string_view text, std::string_view kind, const std::string& where);

/// "chorale" or "tune": what the cache has.
Corpus music_corpus(std::string_view kind);

}  // namespace attn::tasks::compose
