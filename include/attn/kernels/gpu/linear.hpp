/// Linear attention, rotary positions and cache writes on the GPU: the kernels of
/// attn/kernels/linear.hpp, rotary.hpp and cache.hpp on data in the GPU's memory, queued on a
/// stream and not waited for.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/kernels/cache.hpp"       // IWYU pragma: export
#include "attn/kernels/gpu/device.hpp"  // IWYU pragma: export
#include "attn/kernels/linear.hpp"      // IWYU pragma: export
#include "attn/kernels/rotary.hpp"      // IWYU pragma: export

namespace attn::gpu {

/// Bytes of GPU memory that linear() works in: the states.
template <class T>
std::size_t linear_workspace(const LinearArgs<T>& args);

/// For T = double, which is computed in double, float, BFloat16 or Float16. The steps follow
/// one another; sequences, heads and value channels run side by side.
template <class T>
void linear(const LinearArgs<T>& args, void* workspace, Stream stream = nullptr);

/// For T = double, float, BFloat16 or Float16. What args.rows holds is not checked.
template <class T>
void rotate(const RotaryArgs<T>& args, Stream stream = nullptr);

/// For the types of attn::write_cache(). What args.starts holds is not checked: in linear mode,
/// too, a row past the end begins again.
template <class T>
void write_cache(const CacheArgs<T>& args, Stream stream = nullptr);

}  // namespace attn::gpu
