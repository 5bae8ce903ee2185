/// What every function of the GPU says in a build without CUDA.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/error.hpp"

namespace attn::gpu {

[[noreturn]] inline void refuse(const char* where) {
  fail<Unsupported>(where, ": this build has no CUDA; configure it with ATTN_CUDA=ON");
}

}  // namespace attn::gpu
