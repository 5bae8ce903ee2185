/// Steering as a request names it: attention_temperature, forbid, force.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/models/steering.hpp"
#include "tools/serve/fields.hpp"

namespace attn::serve {

/// What is not named is as trained. Values out of range are refused.
models::Steering steering_of(const Fields& fields);

}  // namespace attn::serve
