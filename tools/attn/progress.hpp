/// What the library says while it works, as lines on the error stream.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <string_view>

#include "attn/tasks/corpus.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {

inline tasks::Say progress(const Streams& streams) {
  return [err = streams.err](std::string_view line) { fmt::print(err, "attn: {}\n", line); };
}

}  // namespace attn::tools
