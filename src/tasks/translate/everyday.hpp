/// Everyday sentences in two languages, from the prepared files of tatoeba.org.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"

namespace attn::tasks {

/// All of them, for `attn data translate --from`.
std::span<const PreparedFile> everyday_files();

/// A prepared file, and how it is learnt from.
struct Everyday {
  std::string file;   ///< "en-it.tsv.xz"
  std::string other;  ///< the language beside English
  bool into_english = false;
  std::string mark = {};  ///< what a source begins with
  /// How often an epoch has a pair whose sides translate each other; those that were joined
  /// through a third language come once.
  std::int64_t direct = 1;
};

/// Adds the parts of a text of four columns: part, kind, English, the other language. `where`
/// names it in errors, which name the line.
void add_everyday(std::string_view text, const std::string& where, const Everyday& how,
                  Corpus& corpus);

/// The same of the file in the cache.
void add_everyday(const Everyday& how, Corpus& corpus);

/// Adds to the training part what its Italian sentences hardly ask: the time of day. Sentences
/// of our own, each often.
void add_times_of_day(Corpus& corpus);

}  // namespace attn::tasks
