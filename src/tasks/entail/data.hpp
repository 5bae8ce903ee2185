/// The pairs of entail: prepared ones, and a user's own.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <string_view>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"

namespace attn::tasks::entail {

/// SNLI, MultiNLI and counterfactual pairs, with Breaking NLI as a second test.
const PreparedFile& prepared_pairs();

/// What the test part is.
enum class TestSet { snli, breaking };

/// Of split, source, label (e, n, c), premise, hypothesis between tabs; `where` stands in
/// errors.
Corpus parse_prepared(std::string_view text, TestSet test, const std::string& where);

/// A user's file: label, premise, hypothesis between tabs, a pair a line. A label is
/// "entailment", "neutral" or "contradiction", or its first letter. Equal premises fall into
/// the same part, a tenth of them into development and a tenth into test. A FileError names the
/// first few lines that are no such pairs.
Corpus read_own(const std::filesystem::path& path);

Example example_of(std::string id, std::string label, std::string premise,
                   std::string hypothesis);
const std::string& premise_of(const Example& example);
const std::string& hypothesis_of(const Example& example);

}  // namespace attn::tasks::entail
