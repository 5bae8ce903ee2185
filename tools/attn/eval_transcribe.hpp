/// attn eval transcribe: the word error rate of sound files with their texts, and how fast they
/// were read.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "tools/attn/command.hpp"

namespace attn::tools {

struct TranscribeEvaluation {
  std::string data;     ///< lines of a sound file, a tab and its text
  std::string model;    ///< "base" or "tiny"; empty: base
  std::string answers;  ///< a file to write what was heard to; empty: none
  std::int64_t limit = 0;
  bool json = false;
};

int eval_transcribe(const TranscribeEvaluation& wanted, const Streams& streams);

}  // namespace attn::tools
