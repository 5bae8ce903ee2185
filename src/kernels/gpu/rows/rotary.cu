// Rotary positions on the GPU: a thread for each pair of channels.

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/linear.hpp"
#include "kernels/gpu/rows/sizes.cuh"
#include "kernels/turn_pair.hpp"

namespace attn::gpu {
namespace {

/// A thread a pair of channels, then one for each channel that is copied. Both of a pair are
/// read before either is written, so out may be x.
template <class T>
__global__ void rotate_kernel(RotaryArgs<T> args) {
  const std::int64_t heads = args.x.shape[1];
  const std::int64_t positions = args.x.shape[2];
  const std::int64_t pairs = args.cos.shape[2];
  const std::int64_t each = args.x.shape[3] - pairs;
  for_each_thread(args.x.shape[0] * heads * positions * each, [&](std::int64_t i) {
    const std::int64_t c = i % each;
    const std::int64_t position = i / each % positions;
    const std::int64_t head = i / each / positions % heads;
    const std::int64_t batch = i / each / positions / heads;
    const T* x = args.x.at(batch, head, position);
    T* out = args.out.at(batch, head, position);
    if (c >= pairs) {
      out[(c + pairs) * args.out.strides[3]] = x[(c + pairs) * args.x.strides[3]];
      return;
    }
    const bool picked = args.rows.data != nullptr;
    const std::int64_t row = picked ? *args.rows.at(batch, position) : position;
    const std::int64_t table = picked ? 0 : batch;
    turn_pair(args.pairs, c, pairs, *args.cos.at(table, row, c), *args.sin.at(table, row, c), x,
              args.x.strides[3], out, args.out.strides[3]);
  });
}

}  // namespace

template <class T>
void rotate(const RotaryArgs<T>& args, Stream stream) {
  validate_shapes(args);
  const std::int64_t threads = args.x.shape[0] * args.x.shape[1] * args.x.shape[2] *
                               (args.x.shape[3] - args.cos.shape[2]);
  launch_threads(&rotate_kernel<T>, threads, stream, args);
}

template void rotate(const RotaryArgs<double>&, Stream);
template void rotate(const RotaryArgs<float>&, Stream);
template void rotate(const RotaryArgs<BFloat16>&, Stream);
template void rotate(const RotaryArgs<Float16>&, Stream);

}  // namespace attn::gpu
