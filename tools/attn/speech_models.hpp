/// The speech models, fetched on their first use.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "attn/tasks/transcribe/fetch.hpp"
#include "attn/tasks/transcribe/transcriber.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/progress.hpp"

namespace attn::tools {

/// "tiny" or "base".
inline tasks::Transcriber speech_model_of(const std::string& model, const Streams& streams) {
  if (!tasks::has_transcribe(model)) tasks::fetch_transcribe(progress(streams));
  return tasks::Transcriber::load(tasks::transcribe_folder(), model);
}

}  // namespace attn::tools
