/// Decoding on the GPU: few queries against many keys, which are cut into parts that all
/// multiprocessors read at once and whose results are merged. Functors of your own:
/// attn/kernels/gpu/functor/decode.cuh.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/kernels/args.hpp"        // IWYU pragma: export
#include "attn/kernels/gpu/device.hpp"  // IWYU pragma: export
#include "attn/kernels/gpu/limits.hpp"  // IWYU pragma: export

namespace attn::gpu {

/// Bytes of device memory that decode() needs as a workspace for such arguments; 0 for none.
template <class T>
std::size_t decode_workspace_size(const ForwardArgs<T>& args);

/// out = pool(normalise(mask(score(q, k))), v) for 1 to 16 queries a sequence, queued on
/// `stream` and not waited for; T = float, BFloat16 or Float16. Heads and queries that share
/// keys read them together, sixteen rows at a time in 16-bit types and four in float. All
/// pointers, those of args.paging too, are the device's: what the page table and the lengths
/// hold is not checked. Dot products and a softmax, with a sink or without, are served; weight
/// modifiers, packed sequences and kept similarities throw Unsupported.
template <class T>
void decode(const ForwardArgs<T>& args, const Recipe& recipe, void* workspace, Stream stream);

}  // namespace attn::gpu
