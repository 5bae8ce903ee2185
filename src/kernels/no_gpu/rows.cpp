// A build without CUDA: attention by rows on the GPU says that there is none.

#include "attn/kernels/gpu/rows.hpp"

#include <cstddef>

#include "kernels/no_gpu/refuse.hpp"

namespace attn::gpu {

template <class T>
std::size_t rows_workspace(const ForwardArgs<T>&) {
  refuse("attn::gpu::rows_workspace");
}
template <class T>
std::size_t rows_backward_workspace(const BackwardArgs<T>&) {
  refuse("attn::gpu::rows_backward_workspace");
}
template <class T>
void rows_forward(const ForwardArgs<T>&, const Recipe&, const Inspection<StatOf<T>>&, void*,
                  Stream) {
  refuse("attn::gpu::rows_forward");
}
template <class T>
void rows_scores(const ForwardArgs<T>&, const Recipe&, int, bool, const View<StatOf<T>, 4>&,
                 void*, Stream) {
  refuse("attn::gpu::rows_scores");
}
template <class T>
void rows_backward(const BackwardArgs<T>&, const Recipe&, const RecipeGrads&, void*, Stream) {
  refuse("attn::gpu::rows_backward");
}

#include "kernels/gpu/rows/instances.inc"

}  // namespace attn::gpu
