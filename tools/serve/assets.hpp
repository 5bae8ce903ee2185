/// The page's files as responses: by exact name from a table inside the program, so that no
/// other file can be asked for.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>

#include "tools/serve/message.hpp"

namespace attn::serve {

struct ServedAsset {
  std::string path;  ///< "/", "/assets/index-1a2b3c4d.js"
  std::string_view type;
  std::string_view bytes;
  std::string tag;    ///< of its content
  std::string cache;  ///< what Cache-Control says
};

/// Null for a path that no file has.
const ServedAsset* find_asset(std::string_view path);
/// Whether the page was built in.
bool has_page();

/// The file, or 304 when the client has it.
Response asset_response(const ServedAsset& asset, const Request& request);

}  // namespace attn::serve
