/// The files of the page, inside the program.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <span>
#include <string_view>

namespace attn::tools {

struct Asset {
  std::string_view name;  ///< "index.html", "assets/index-1a2b3c4d.js"
  std::string_view type;  ///< content type
  std::string_view bytes;
};

/// Empty where the page was not built.
std::span<const Asset> page_assets();

}  // namespace attn::tools
