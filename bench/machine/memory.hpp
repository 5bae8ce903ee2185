/// Memory of this process: how high it rises while something runs.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>

namespace attn::bench {

/// Bytes by which resident memory peaked above what was resident before `job`, to some tens of
/// pages; -1 where the kernel does not let a process reset its own peak. Memory that an earlier
/// job left in the allocator hides a later one's: ask in a fresh process.
std::int64_t peak_beyond(const std::function<void()>& job);

}  // namespace attn::bench
