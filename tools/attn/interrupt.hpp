/// Ctrl-C as a question that long work asks, so that it can save before it ends.

#pragma once

// SPDX-License-Identifier: Apache-2.0

namespace attn::tools {

/// While one lives, the first SIGINT or SIGTERM is only noted; the second ends the program.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool asked() const;
};

}  // namespace attn::tools
