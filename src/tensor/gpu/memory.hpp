/// The GPU's memory: taken from a pool that keeps what is given back, in the order of a stream.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/kernels/gpu/device.hpp"

namespace attn::gpu {

/// Not initialised. It may be used by what is queued on stream() from now on.
void* allocate(std::size_t bytes);
/// Gives back what allocate(bytes) gave while stream() was `owner`. Never throws: it runs in
/// destructors, and at the end of the program the driver may be gone.
void release(void* data, std::size_t bytes, Stream owner) noexcept;

/// From the CPU's memory, which may be reused at once.
void upload(void* to, const void* from, std::size_t bytes);
/// To the CPU's memory, and waits, as synchronise() does.
void download(void* to, const void* from, std::size_t bytes);
void clear(void* to, std::size_t bytes);

}  // namespace attn::gpu
