/// Writing keys and values into a cache: tensors with room for more positions than they hold.
/// A decoder has two a layer; each step writes the new positions and attends to all of them:
///
///     write_cache(keys, k, lengths);             // keys [batch, kv_heads, room, channels]
///     write_cache(values, v, lengths);           // k, v [batch, kv_heads, new, channels]
///     for (auto& length : lengths) ++length;
///     attend(q, keys, values, spec::scaled_dot(), {}, spec::softmax(), Want::output,
///            spec::Sequences::cached(lengths));  // q [batch, heads, new, channels]
///
/// Without a tape the GPU takes its decoding kernels for up to 16 new positions. Keys that do
/// not grow, as those of a cross attention, need no cache: attend(q, k, v) takes them too.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/tensor/tensor.hpp"

namespace attn {

/// cache[b, h, starts[b] + i] = update[b, h, i] in place, off the tape. Throws InvalidArgument
/// unless shapes agree and the update ends within the cache.
void write_cache(const Tensor& cache, const Tensor& update,
                 const std::vector<std::int64_t>& starts);

}  // namespace attn
