/// Ctrl-C as a question that long work asks, so that it can save before it ends.

#pragma once

// SPDX-License-Identifier: Apache-2.0

namespace attn::tools {

/// From its making until the program ends, the first SIGINT or SIGTERM is only noted; the
/// second ends the program. It is never taken back: between the last step and the end of the
/// program a signal would else end it before its last words are written. The thread that makes
/// it takes signals on a stack of their own, whatever library it is in.
class Interrupt {
 public:
  Interrupt();

  bool asked() const;
};

}  // namespace attn::tools
