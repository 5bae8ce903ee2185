// A build without CUDA: the kernels of the GPU say that there is none.

#include <cstddef>
#include <string>

#include "attn/core/error.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/decode.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/gpu/linear.hpp"
#include "attn/kernels/gpu/rows.hpp"

namespace attn::gpu {
namespace {

[[noreturn]] void refuse(const char* function) {
  fail<Unsupported>("attn::gpu::", function,
                    ": this build has no CUDA; configure it with ATTN_CUDA=ON");
}

}  // namespace

bool available() {
  return false;
}
Capability capability() {
  return {};
}
std::string describe() {
  return "none: this build has no CUDA; cmake --preset cuda makes one that has";
}

std::size_t additive_workspace_size(const ForwardArgs<float>&) {
  refuse("additive_workspace_size");
}
void additive_forward(const ForwardArgs<float>&, const Recipe&, void*, Stream) {
  refuse("additive_forward");
}
void additive_backward(const BackwardArgs<float>&, const Recipe&, const RecipeGrads&, Stream) {
  refuse("additive_backward");
}

template <class T>
void forward(const ForwardArgs<T>&, const Recipe&, Stream) {
  refuse("forward");
}
template <class T>
std::size_t backward_workspace(const BackwardArgs<T>&) {
  refuse("backward_workspace");
}
template <class T>
void backward(const BackwardArgs<T>&, const Recipe&, const RecipeGrads&, void*, Stream,
              Determinism) {
  refuse("backward");
}
#include "kernels/gpu/tiles/instances.inc"

template <class T>
std::size_t decode_workspace_size(const ForwardArgs<T>&) {
  refuse("decode_workspace_size");
}
template <class T>
void decode(const ForwardArgs<T>&, const Recipe&, void*, Stream) {
  refuse("decode");
}
template std::size_t decode_workspace_size(const ForwardArgs<float>&);
template std::size_t decode_workspace_size(const ForwardArgs<BFloat16>&);
template std::size_t decode_workspace_size(const ForwardArgs<Float16>&);
template void decode(const ForwardArgs<float>&, const Recipe&, void*, Stream);
template void decode(const ForwardArgs<BFloat16>&, const Recipe&, void*, Stream);
template void decode(const ForwardArgs<Float16>&, const Recipe&, void*, Stream);

template <class T>
std::size_t linear_workspace(const LinearArgs<T>&) {
  refuse("linear_workspace");
}
template <class T>
void linear(const LinearArgs<T>&, void*, Stream) {
  refuse("linear");
}
template <class T>
void rotate(const RotaryArgs<T>&, Stream) {
  refuse("rotate");
}
template <class T>
void write_cache(const CacheArgs<T>&, Stream) {
  refuse("write_cache");
}
#include "kernels/gpu/rows/linear_instances.inc"

template <class T>
std::size_t rows_workspace(const ForwardArgs<T>&) {
  refuse("rows_workspace");
}
template <class T>
std::size_t rows_backward_workspace(const BackwardArgs<T>&) {
  refuse("rows_backward_workspace");
}
template <class T>
void rows_forward(const ForwardArgs<T>&, const Recipe&, const Inspection<StatOf<T>>&, void*,
                  Stream) {
  refuse("rows_forward");
}
template <class T>
void rows_scores(const ForwardArgs<T>&, const Recipe&, int, bool, const View<StatOf<T>, 4>&,
                 void*, Stream) {
  refuse("rows_scores");
}
template <class T>
void rows_backward(const BackwardArgs<T>&, const Recipe&, const RecipeGrads&, void*, Stream) {
  refuse("rows_backward");
}
#include "kernels/gpu/rows/instances.inc"

}  // namespace attn::gpu
