#include <cstdint>

#include "attn/core/error.hpp"
#include "tensor/gpu/launch.cuh"
#include "tensor/gpu/rotary.hpp"

namespace attn::gpu {
namespace {

/// Sizes and steps of the tables.
struct Turns {
  std::int64_t batch_step;  ///< 0: one for all
  std::int64_t positions;
  std::int64_t pairs;
  std::int64_t heads;
  std::int64_t channels;
  bool halves;
};

/// A thread gives one channel its new number, from the two of its pair.
template <class T>
__global__ void rotate_kernel(Turns n, Places<2> places, std::int64_t channel_step, const T* x,
                              const T* cos, const T* sin, T* out) {
  for_numbers(places.count, [&](std::int64_t i) {
    std::int64_t at[2];
    places.at(i, at);
    const std::int64_t channel = i % n.channels;
    const std::int64_t position = i / n.channels % n.positions;
    const std::int64_t batch = i / n.channels / n.positions / n.heads;
    if (channel >= 2 * n.pairs) {
      out[at[0]] = x[at[1]];
      return;
    }
    const std::int64_t pair = n.halves ? channel % n.pairs : channel / 2;
    const bool first = n.halves ? channel < n.pairs : channel % 2 == 0;
    const std::int64_t apart = n.halves ? n.pairs : 1;
    const T other = x[at[1] + (first ? apart : -apart) * channel_step];
    const std::int64_t turn = batch * n.batch_step + position * n.pairs + pair;
    out[at[0]] = x[at[1]] * cos[turn] + (first ? -other : other) * sin[turn];
  });
}

}  // namespace

void rotate(const Tensor& x, const Tensor& cos, const Tensor& sin, RotaryPairs pairs,
            const Tensor& out) {
  if (out.numel() == 0) return;
  const Turns n{cos.size(0) == 1 ? 0 : cos.size(1) * cos.size(2),
                x.size(2),
                cos.size(2),
                x.size(1),
                x.size(3),
                pairs == RotaryPairs::halves};
  const Places<2> places(out.shape(), {out.strides(), x.strides()});
  op::dispatch_real(x.dtype(), "attn::rotary", [&](auto zero) {
    using T = decltype(zero);
    rotate_kernel<<<blocks_for(out.numel()), kThreads, 0, stream()>>>(
        n, places, x.strides()[3], op::numbers<const T>(x), op::numbers<const T>(cos),
        op::numbers<const T>(sin), op::numbers<T>(out));
  });
  check_launch();
}

}  // namespace attn::gpu
