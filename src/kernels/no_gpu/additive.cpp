// SPDX-License-Identifier: Apache-2.0
//
// A build without CUDA: additive attention on the GPU says that there is none.

#include "attn/kernels/gpu/additive.hpp"

#include <cstddef>

#include "kernels/no_gpu/refuse.hpp"

namespace attn::gpu {

std::size_t additive_workspace_size(const ForwardArgs<float>&) {
  refuse("attn::gpu::additive_workspace_size");
}
void additive_forward(const ForwardArgs<float>&, const Recipe&, void*, Stream) {
  refuse("attn::gpu::additive_forward");
}
void additive_backward(const BackwardArgs<float>&, const Recipe&, const RecipeGrads&, Stream) {
  refuse("attn::gpu::additive_backward");
}

}  // namespace attn::gpu
