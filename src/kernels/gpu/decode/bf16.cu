// Decoding in BFloat16.

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/dtype.hpp"
#include "attn/kernels/gpu/decode.hpp"
#include "kernels/gpu/decode/recipe.cuh"

namespace attn::gpu {

template std::size_t decode_workspace_size(const ForwardArgs<BFloat16>&);
template void decode(const ForwardArgs<BFloat16>&, const Recipe&, void*, Stream);

}  // namespace attn::gpu
