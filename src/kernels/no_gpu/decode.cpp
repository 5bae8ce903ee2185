// SPDX-License-Identifier: Apache-2.0
//
// A build without CUDA: decoding on the GPU says that there is none.

#include "attn/kernels/gpu/decode.hpp"

#include <cstddef>

#include "kernels/no_gpu/refuse.hpp"

namespace attn::gpu {

template <class T>
std::size_t decode_workspace_size(const ForwardArgs<T>&) {
  refuse("attn::gpu::decode_workspace_size");
}
template <class T>
void decode(const ForwardArgs<T>&, const Recipe&, void*, Stream) {
  refuse("attn::gpu::decode");
}

// clang-format off
template std::size_t decode_workspace_size(const ForwardArgs<float>&);
template std::size_t decode_workspace_size(const ForwardArgs<BFloat16>&);
template std::size_t decode_workspace_size(const ForwardArgs<Float16>&);
template void decode(const ForwardArgs<float>&, const Recipe&, void*, Stream);
template void decode(const ForwardArgs<BFloat16>&, const Recipe&, void*, Stream);
template void decode(const ForwardArgs<Float16>&, const Recipe&, void*, Stream);
// clang-format on

}  // namespace attn::gpu
