// Random numbers and dropout on the GPU, the same as on the CPU.

#include <cstdint>

#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/launch.cuh"

namespace attn::gpu {
namespace {

/// A thread draws one block of words, which decides about four numbers.
template <class T>
__global__ void dropout_kernel(op::DropoutDraw draw, std::int64_t count, const T* x, T* y) {
  using W = WideOf<T>;
  const W keep = static_cast<W>(draw.keep);
  const std::int64_t quads =
      (count + op::kDropoutChunk - 1) / op::kDropoutChunk * op::kDropoutBlocks;
  for_numbers(quads, [&](std::int64_t quad) {
    const std::int64_t first =
        quad / op::kDropoutBlocks * op::kDropoutChunk + quad % op::kDropoutBlocks;
    const auto words = draw.words(first);
    const std::uint32_t four[4] = {words.a, words.b, words.c, words.d};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const std::int64_t i = first + w * op::kDropoutBlocks;
      if (i < count) y[i] = op::convert<T>(wide(x[i]) * (four[w] < draw.bound ? W(0) : keep));
    }
  });
}

template <class Draw>
__global__ void draw_kernel(Draw draw, std::uint64_t key, std::int64_t count, double* out) {
  for_numbers((count + 1) / 2, [&](std::int64_t pair) {
    const op::DrawnPair two = draw.at(key, pair);
    out[2 * pair] = two.first;
    if (2 * pair + 1 < count) out[2 * pair + 1] = two.second;
  });
}

}  // namespace

void dropout(const op::DropoutDraw& draw, const Tensor& x, const Tensor& y) {
  if (x.numel() == 0) return;
  dispatch_numbers(x.dtype(), "attn::dropout", [&](auto zero) {
    using T = decltype(zero);
    launch(x.numel() / 4 + op::kDropoutBlocks, dropout_kernel<T>, draw, x.numel(),
           op::numbers<const T>(x), op::numbers<T>(y));
  });
}

void draw(const op::UniformDraw& draw, std::uint64_t key, const Tensor& out) {
  launch((out.numel() + 1) / 2, draw_kernel<op::UniformDraw>, draw, key, out.numel(),
         op::numbers<double>(out));
}
void draw(const op::NormalDraw& draw, std::uint64_t key, const Tensor& out) {
  launch((out.numel() + 1) / 2, draw_kernel<op::NormalDraw>, draw, key, out.numel(),
         op::numbers<double>(out));
}

}  // namespace attn::gpu
