// SPDX-License-Identifier: Apache-2.0
//
// A build without CUDA: additive attention on the GPU says that there is none.

#include "attn/kernels/gpu/additive.hpp"

#include <cstddef>

#include "attn/core/error.hpp"

namespace attn::gpu {
namespace {

[[noreturn]] void refuse_additive(const char* where) {
  fail<Unsupported>(where, ": this build has no CUDA; configure it with ATTN_CUDA=ON");
}

}  // namespace

bool additive_serves(const ForwardArgs<float>&, const Recipe&) {
  refuse_additive("attn::gpu::additive_serves");
}
bool additive_serves(const BackwardArgs<float>&, const Recipe&, const RecipeGrads&) {
  refuse_additive("attn::gpu::additive_serves");
}

std::size_t additive_workspace_size(const ForwardArgs<float>&) {
  refuse_additive("attn::gpu::additive_workspace_size");
}
void additive_forward(const ForwardArgs<float>&, const Recipe&, void*, Stream) {
  refuse_additive("attn::gpu::additive_forward");
}
void additive_backward(const BackwardArgs<float>&, const Recipe&, const RecipeGrads&, Stream) {
  refuse_additive("attn::gpu::additive_backward");
}

}  // namespace attn::gpu
