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
void rows_forward(const ForwardArgs<T>&, const Recipe&, const RowsInspection<StatOf<T>>&, void*,
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

// clang-format off
template std::size_t rows_workspace(const ForwardArgs<double>&);
template std::size_t rows_backward_workspace(const BackwardArgs<double>&);
template void rows_forward(const ForwardArgs<double>&, const Recipe&, const RowsInspection<double>&, void*, Stream);
template void rows_scores(const ForwardArgs<double>&, const Recipe&, int, bool, const View<double, 4>&, void*, Stream);
template void rows_backward(const BackwardArgs<double>&, const Recipe&, const RecipeGrads&, void*, Stream);
template std::size_t rows_workspace(const ForwardArgs<float>&);
template std::size_t rows_backward_workspace(const BackwardArgs<float>&);
template void rows_forward(const ForwardArgs<float>&, const Recipe&, const RowsInspection<float>&, void*, Stream);
template void rows_scores(const ForwardArgs<float>&, const Recipe&, int, bool, const View<float, 4>&, void*, Stream);
template void rows_backward(const BackwardArgs<float>&, const Recipe&, const RecipeGrads&, void*, Stream);
template std::size_t rows_workspace(const ForwardArgs<BFloat16>&);
template std::size_t rows_backward_workspace(const BackwardArgs<BFloat16>&);
template void rows_forward(const ForwardArgs<BFloat16>&, const Recipe&, const RowsInspection<float>&, void*, Stream);
template void rows_scores(const ForwardArgs<BFloat16>&, const Recipe&, int, bool, const View<float, 4>&, void*, Stream);
template void rows_backward(const BackwardArgs<BFloat16>&, const Recipe&, const RecipeGrads&, void*, Stream);
template std::size_t rows_workspace(const ForwardArgs<Float16>&);
template std::size_t rows_backward_workspace(const BackwardArgs<Float16>&);
template void rows_forward(const ForwardArgs<Float16>&, const Recipe&, const RowsInspection<float>&, void*, Stream);
template void rows_scores(const ForwardArgs<Float16>&, const Recipe&, int, bool, const View<float, 4>&, void*, Stream);
template void rows_backward(const BackwardArgs<Float16>&, const Recipe&, const RecipeGrads&, void*, Stream);
// clang-format on

}  // namespace attn::gpu
