/// What the commands that answer texts share: options, input, output.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/tasks/reply.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/answer_maps.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {

struct AnswerOptions {
  std::vector<std::string> texts;  ///< as given; "-" is standard input, a text a line
  std::string model;
  tasks::Choices choices;
  MapOptions map;
  int lines = 64;
  bool echo = false;  ///< a line tells the text too: "word<TAB>phones"; not of standard input
  bool json = false;
  bool weights = false;
  Device device = Device::cpu;
};

/// --model, those of searching, --best, --temperature, --top, --seed, --lines, --json,
/// --weights, --device, those of maps and of steering, with the task's own defaults.
void add_answer_options(CLI::App& command, const std::string& task, AnswerOptions& options);

/// Answers the texts, or the lines of standard input, in order. A text that is refused is an
/// error before any is answered. A line that is refused is an error behind which the others are
/// still answered; its own answer is an empty line, as that of an empty line is. Flags that do
/// not go together are wrong usage, told before a model is loaded.
int answer_all(const std::string& task, const AnswerOptions& options, const Streams& streams);

/// The same for texts that were read from files.
int answer_texts(const std::string& task, const AnswerOptions& options,
                 const std::vector<std::string>& texts, const Streams& streams);

}  // namespace attn::tools
