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

// clang-format off
template void forward(const ForwardArgs<float>&, const Recipe&, Stream);
template void forward(const ForwardArgs<BFloat16>&, const Recipe&, Stream);
template void forward(const ForwardArgs<Float16>&, const Recipe&, Stream);
template std::size_t backward_workspace(const BackwardArgs<float>&);
template std::size_t backward_workspace(const BackwardArgs<BFloat16>&);
template std::size_t backward_workspace(const BackwardArgs<Float16>&);
template void backward(const BackwardArgs<float>&, const Recipe&, const RecipeGrads&, void*, Stream, Determinism);
template void backward(const BackwardArgs<BFloat16>&, const Recipe&, const RecipeGrads&, void*, Stream, Determinism);
template void backward(const BackwardArgs<Float16>&, const Recipe&, const RecipeGrads&, void*, Stream, Determinism);
// clang-format on

}  // namespace attn::gpu
