/// What this program was built from, and how.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>

namespace attn::tools {

/// `git describe` of the sources when the program was built; "unknown" outside git.
std::string commit();

/// "g++ 12.2.0".
std::string compiler();

/// "attn 0.1.0 (commit 1a2b3c4, g++ 12.2.0, without CUDA)".
std::string version_text();

}  // namespace attn::tools
