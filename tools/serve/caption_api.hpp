/// The handler that describes pictures.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "tools/serve/message.hpp"
#include "tools/serve/service.hpp"

namespace attn::serve {

/// POST /api/caption.
Plan answer_caption(const Service& service, const Request& request);

}  // namespace attn::serve
