/// Corpus: examples of a task in three parts that share nothing.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

struct Example {
  std::string id;  ///< where it comes from: a word, a Description-md5, a line
  std::string source;
  std::vector<std::string> targets;  ///< all that are right; each is learnt from
};

struct Corpus {
  std::string name;
  std::vector<Example> train;
  std::vector<Example> development;  ///< chooses when to stop
  std::vector<Example> test;         ///< scored once
  /// What a reader should know: how many test pairs remain, what is newer than the splits.
  std::vector<std::string> notes;
  /// Of a user's own pairs; empty for the data of a task.
  std::filesystem::path file = {};  ///< absolute
  std::string checksum = {};        ///< SHA-256 of its bytes
};

/// How long work tells what it does; the library itself never prints.
using Say = std::function<void(std::string_view)>;

}  // namespace attn::tasks
