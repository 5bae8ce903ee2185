// A build without CUDA: attention on the GPU says that there is none.

#include "attn/kernels/gpu/attention.hpp"

#include <cstddef>

#include "kernels/no_gpu/refuse.hpp"

namespace attn::gpu {

template <class T>
void forward(const ForwardArgs<T>&, const Recipe&, Stream) {
  refuse("attn::gpu::forward");
}

template <class T>
std::size_t backward_workspace(const BackwardArgs<T>&) {
  refuse("attn::gpu::backward_workspace");
}

template <class T>
void backward(const BackwardArgs<T>&, const Recipe&, const RecipeGrads&, void*, Stream,
              Determinism) {
  refuse("attn::gpu::backward");
}

#include "kernels/gpu/tiles/instances.inc"

}  // namespace attn::gpu
