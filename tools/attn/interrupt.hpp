/// Ctrl-C as a question that long work asks, so that it can save before it ends.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <memory>

namespace attn::tools {

/// While one lives, the first SIGINT or SIGTERM is only noted; the second ends the program. The
/// thread that makes it takes signals on a stack of their own, whatever library it is in; what
/// was there before is back afterwards.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool asked() const;

 private:
  struct Before;
  std::unique_ptr<Before> before_;
  std::unique_ptr<std::byte[]> stack_;
};

}  // namespace attn::tools
