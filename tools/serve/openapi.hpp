/// The description of the interface that clients can read.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string_view>

namespace attn::serve {

/// tools/serve/openapi.json.
std::string_view openapi_text();

}  // namespace attn::serve
