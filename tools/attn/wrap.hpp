/// Lines of a page under docs/: words up to a column, behind a margin.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <string_view>

namespace attn::tools {

/// The words of `text` in lines of at most `columns` characters, without a last line break. The
/// first line begins with `first`, the others with `margin`. A longer word has its own line.
std::string wrap(std::string_view text, std::string_view first = "",
                 std::string_view margin = "", std::size_t columns = 120);

}  // namespace attn::tools
