/// What the commands that answer texts share: options, input, output.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/answer_maps.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/search_flags.hpp"

namespace attn::tools {

struct AnswerOptions {
  std::vector<std::string> texts;  ///< as given; "-" is standard input, a text a line
  std::string model;
  models::SearchOptions search;  ///< but for what `flags` say
  SearchFlags flags;
  MapOptions map;
  int lines = 64;
  bool json = false;
  bool weights = false;
  Device device = Device::cpu;
};

/// --model, those of searching, --best, --temperature, --top, --seed, --lines, --json,
/// --weights, --device, those of maps and of steering, with the task's own defaults.
void add_answer_options(CLI::App& command, const std::string& task, AnswerOptions& options);

/// What a task makes of texts before and after the model.
struct Manner {
  /// What keeps the model from reading a text, behind "text 3 ..."; "": nothing does.
  std::function<std::string(const tasks::PairModel&, std::string_view)> problem = {};
  /// Cuts a text into what the model reads in one go; the answers are joined by spaces.
  std::function<std::vector<std::string>(const tasks::PairModel&, std::string_view)> split = {};
  /// Whether a line tells what was asked too: "word<TAB>phones".
  bool echo = false;
};

/// Answers the texts, or the lines of standard input, in order. One that is not UTF-8 or empty
/// is an error that says which; an empty line of standard input has an empty answer. Flags that
/// do not go together are wrong usage, told before a model is loaded.
int answer_all(const std::string& task, const AnswerOptions& options, const Manner& manner,
               const Streams& streams);

/// The same for texts that were read from files.
int answer_texts(const std::string& task, const AnswerOptions& options, const Manner& manner,
                 const std::vector<std::string>& texts, const Streams& streams);

}  // namespace attn::tools
