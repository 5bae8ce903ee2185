/// Whether the same call on the GPU must give the same bits.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::gpu {

enum class Determinism {
  fast,        ///< dQ and gradients of tables are added in any order
  repeatable,  ///< one block of keys after the other; gradients of tables are not served
};

}  // namespace attn::gpu
