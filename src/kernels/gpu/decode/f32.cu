// Decoding in float.

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/dtype.hpp"
#include "attn/kernels/gpu/decode.hpp"
#include "kernels/gpu/decode/recipe.cuh"

namespace attn::gpu {

template std::size_t decode_workspace_size(const ForwardArgs<float>&);
template void decode(const ForwardArgs<float>&, const Recipe&, void*, Stream);

}  // namespace attn::gpu
