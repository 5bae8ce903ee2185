/// The data of classify: package descriptions with sections, three corpora of what people say
/// to machines, and a user's own file.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/pairs/read_pairs.hpp"

namespace attn::tasks::classify {

/// The label of a text that belongs to no other label: out of scope.
inline constexpr const char* kOutOfScope = "oos";

/// What models learn about.
inline constexpr const char* kSections = "sections";
inline constexpr const char* kIntents = "intents";
inline constexpr const char* kBanking = "banking";
inline constexpr const char* kSlots = "slots";
inline constexpr const char* kOwn = "own";

// An example's first target is its label. Where texts have slots, a second one holds a tag for
// each word, between spaces; words are what stands between spaces then.

const std::vector<PreparedFile>& prepared_files();

Corpus load_corpus(const std::string& about, const Say& say);

/// Synopsis and description of every package in one of the 25 sections that tell what a
/// program is for, not what it is written in. A source package falls into its part by a hash of
/// its name.
Corpus sections_corpus(const DebianIndex& index);

/// Lines of split, label and text. Without a part for development a twentieth of train is it,
/// by a hash of the text. A text that is held out is not learnt from.
Corpus parse_intents(std::string_view text, const std::string& name);
/// Lines of split, label, words and tags.
Corpus parse_slots(std::string_view text, const std::string& name);

/// A user's own file of text and label, or of text, label and tags. FileError that names lines
/// for what is no such example; for a text with two labels; for one label alone.
Corpus read_own(const std::filesystem::path& path, const PairOptions& options, bool has_slots,
                const Say& say);

}  // namespace attn::tasks::classify
