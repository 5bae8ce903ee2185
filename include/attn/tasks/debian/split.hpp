/// Parts of Debian's texts that share no source package, kept as lists that ship.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// An example that may fall into any part.
struct Candidate {
  Example example;
  std::string package;  ///< the source package its text comes from
};

/// A list of what is held out: lines of id, source package and development, test or left-out.
/// Packages are taken in the order of a hash of their names until enough of their examples are
/// far from everything that stays for training. What is too near, or too much, is in no part.
/// Test is a twentieth of all, at most 2,000; development half of that.
std::string make_split(const std::vector<Candidate>& candidates, const std::string& release,
                       const Say& say);

/// Puts every candidate where the list has it; train is what comes from packages the list does
/// not name. Equal sources become one, and a held-out one wins. Notes tell how much of the list
/// was found and whether the index is newer. A list that cannot be read is a FileError.
Corpus apply_split(std::vector<Candidate> candidates, std::string_view list,
                   const std::string& release, const std::string& name);

/// The list that ships under this name ("translate-it"); an InvalidArgument names those there
/// are.
std::string_view shipped_split(std::string_view name);

}  // namespace attn::tasks
