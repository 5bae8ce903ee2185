// Sums, maxima and the largest of each row on the GPU.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/launch.cuh"
#include "tensor/gpu/team.cuh"

namespace attn::gpu {
namespace {

/// How a sum is cut: a block takes `columns` inner places of one outer place, and one of
/// `chunks` parts of the extent.
struct Cut {
  std::int64_t extent;
  std::int64_t inner;
  int columns;
  std::int64_t strips;
  std::int64_t chunk;  ///< numbers of the extent in a part
};

template <class From, class To>
__global__ void sum_kernel(Cut cut, const From* x, To* out) {
  using W = WideOf<From>;
  __shared__ W parts[kThreads];
  const int column = static_cast<int>(threadIdx.x) % cut.columns;
  const int row = static_cast<int>(threadIdx.x) / cut.columns;
  const int rows = kThreads / cut.columns;
  const std::int64_t outer = blockIdx.x / cut.strips;
  const std::int64_t place = blockIdx.x % cut.strips * cut.columns + column;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * cut.chunk;
  const std::int64_t end = begin + cut.chunk < cut.extent ? begin + cut.chunk : cut.extent;
  W sum(0);
  if (place < cut.inner) {
    const From* first = x + outer * cut.extent * cut.inner + place;
#pragma unroll 4
    for (std::int64_t r = begin + row; r < end; r += rows) sum += wide(first[r * cut.inner]);
  }
  parts[threadIdx.x] = sum;
  for (int half = rows / 2; half > 0; half /= 2) {
    __syncthreads();
    if (row < half) parts[threadIdx.x] += parts[threadIdx.x + half * cut.columns];
  }
  if (row == 0 && place < cut.inner)
    out[(outer * gridDim.y + blockIdx.y) * cut.inner + place] =
        op::convert<To>(parts[threadIdx.x]);
}

template <class T>
__global__ void argmax_kernel(std::int64_t count, std::int64_t extent, std::int64_t inner,
                              const T* x, std::int64_t* out) {
  for_numbers(count, [&](std::int64_t i) {
    const T* row = x + i / inner * extent * inner + i % inner;
    std::int64_t best = 0;
    WideOf<T> most = wide(row[0]);
    for (std::int64_t r = 1; r < extent; ++r) {
      const WideOf<T> number = wide(row[r * inner]);
      if (number > most) {
        most = number;
        best = r;
      }
    }
    out[i] = best;
  });
}

/// Larger for larger numbers, of equals for the first; 0 for NaN.
__device__ std::uint64_t rank_of(float x, std::int64_t place) {
  if (isnan(x)) return 0;
  const std::uint32_t bits = __float_as_uint(x + 0.0f);  // 0 and -0 are equals
  const std::uint32_t order = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<std::uint64_t>(order) << 32 | (UINT32_MAX - static_cast<unsigned>(place));
}

/// A team looks through its row once for each number: few are asked for, and rows stay in L1.
template <class On>
__global__ void top_kernel(On, std::int64_t rows, std::int64_t columns, std::int64_t count,
                           const float* x, double* values) {
  const std::int64_t row = On::row();
  if (row >= rows) return;
  const float* from = x + row * columns;
  std::uint64_t last = UINT64_MAX;
  for (std::int64_t n = row * count; n < (row + 1) * count; ++n) {
    std::uint64_t best = 0;
    On::each(columns, [&](std::int64_t i) {
      const std::uint64_t rank = rank_of(from[i], i);
      if (rank < last && rank > best) best = rank;
    });
    last = On::all(best, std::uint64_t{0},
                   [](std::uint64_t a, std::uint64_t b) { return b > a ? b : a; });
    if (On::rank() != 0) continue;
    const unsigned place = UINT32_MAX - static_cast<unsigned>(last);
    values[n] = last == 0 ? -INFINITY : from[place];
    values[rows * count + n] = last == 0 ? -1.0 : place;
  }
}

/// Enough blocks to fill a large GPU twice; more parts only cost another pass.
constexpr std::int64_t kEnough = 512;

template <class From, class To>
void sum_in_parts(const From* x, const op::AxisExtents& e, To* out) {
  const std::int64_t wanted = std::min<std::int64_t>(e.inner, 32);
  Cut cut{e.extent, e.inner, static_cast<int>(std::bit_ceil(static_cast<unsigned>(wanted))), 0,
          e.extent};
  cut.strips = (e.inner + cut.columns - 1) / cut.columns;
  const std::int64_t blocks = e.outer * cut.strips;
  const std::int64_t rows = kThreads / cut.columns;
  // A part is worth a block if every thread has eight numbers or more.
  const std::int64_t chunks =
      std::clamp<std::int64_t>(std::min(kEnough / blocks, e.extent / (8 * rows)), 1, kEnough);
  cut.chunk = (e.extent + chunks - 1) / chunks;
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(chunks));
  if (chunks == 1) {
    sum_kernel<<<grid, kThreads, 0, stream()>>>(cut, x, out);
    return;
  }
  using W = WideOf<From>;
  const Tensor parts = Tensor::empty({e.outer, chunks, e.inner}, kDType<W>, Device::gpu);
  sum_kernel<<<grid, kThreads, 0, stream()>>>(cut, x, op::numbers<W>(parts));
  Cut rest = cut;
  rest.extent = rest.chunk = chunks;
  sum_kernel<<<dim3(static_cast<unsigned>(blocks)), kThreads, 0, stream()>>>(
      rest, op::numbers<const W>(parts), out);
}

}  // namespace

void sum_middle(const Tensor& x, const op::AxisExtents& extents, const Tensor& out) {
  if (out.numel() == 0) return;
  dispatch_numbers(x.dtype(), "attn::sum", [&](auto zero) {
    using T = decltype(zero);
    using W = WideOf<T>;
    if (out.dtype() == x.dtype()) {
      sum_in_parts(op::numbers<const T>(x), extents, op::numbers<T>(out));
    } else {
      sum_in_parts(op::numbers<const T>(x), extents, op::numbers<W>(out));
    }
  });
  check_launch();
}

void top(const Tensor& x, const Tensor& out) {
  if (out.numel() == 0) return;
  with_team(x.size(0), x.size(1), [&](auto team, unsigned blocks) {
    top_kernel<<<blocks, kThreads, 0, stream()>>>(team, x.size(0), x.size(1), out.size(2),
                                                  op::numbers<const float>(x),
                                                  op::numbers<double>(out));
  });
  check_launch();
}

void argmax(const Tensor& x, const op::AxisExtents& extents, const Tensor& out) {
  dispatch_numbers(x.dtype(), "attn::argmax", [&](auto zero) {
    using T = decltype(zero);
    launch(out.numel(), argmax_kernel<T>, out.numel(), extents.extent, extents.inner,
           op::numbers<const T>(x), op::numbers<std::int64_t>(out));
  });
}

}  // namespace attn::gpu
