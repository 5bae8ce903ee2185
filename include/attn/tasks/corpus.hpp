/// Corpus: examples of a task in three parts that share nothing.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep
#include "attn/tasks/answer.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks {

/// A rectangle on a picture, in pixels.
struct Box {
  std::string label;
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
};

struct Example {
  std::string id;  ///< where it comes from: a word, a Description-md5, a line
  std::string source;
  std::vector<std::string> targets;  ///< all that are right; each is learnt from
  /// What is read where it is no text; `source` is then empty.
  std::map<std::string, Value> parts = {};
  std::vector<Box> boxes = {};  ///< of what the target names, in its order
  std::int64_t times = 1;       ///< how often an epoch has it

  Input input() const;
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
  bool shuffled = false;            ///< the first examples of a part are as good as any
};

/// How long work tells what it does; the library itself never prints.
using Say = std::function<void(std::string_view)>;

}  // namespace attn::tasks
