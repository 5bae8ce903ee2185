// A build without CUDA: attention by rows on the GPU says that there is none.

#include "attn/kernels/gpu/rows.hpp"

#include <cstddef>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"

namespace attn::gpu {
namespace {

[[noreturn]] void refuse(const char* where) {
  fail<Unsupported>(where, ": this build has no CUDA; configure it with ATTN_CUDA=ON");
}

}  // namespace

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
#define ATTN_NO_GPU_ROWS(T)                                                                                          \
  template std::size_t rows_workspace(const ForwardArgs<T>&);                                                        \
  template std::size_t rows_backward_workspace(const BackwardArgs<T>&);                                              \
  template void rows_forward(const ForwardArgs<T>&, const Recipe&, const RowsInspection<StatOf<T>>&, void*, Stream); \
  template void rows_scores(const ForwardArgs<T>&, const Recipe&, int, bool, const View<StatOf<T>, 4>&, void*, Stream); \
  template void rows_backward(const BackwardArgs<T>&, const Recipe&, const RecipeGrads&, void*, Stream);
ATTN_NO_GPU_ROWS(double)
ATTN_NO_GPU_ROWS(float)
ATTN_NO_GPU_ROWS(BFloat16)
ATTN_NO_GPU_ROWS(Float16)
#undef ATTN_NO_GPU_ROWS
// clang-format on

}  // namespace attn::gpu
