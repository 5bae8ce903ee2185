// The gradient of choosing places: who chose a place is found by a stable sort, then each place
// is summed by one block, so that no two write to it and the order never changes.

#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include "attn/core/error.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/launch.cuh"
#include "tensor/ops/axis_extents.hpp"

namespace attn::gpu {
namespace {

__global__ void number_kernel(std::int64_t count, const std::int64_t* index,
                              std::uint32_t* positions, std::uint32_t* who) {
  for_numbers(count, [&](std::int64_t i) {
    // A place that does not exist was reported by the forward pass; it sorts to the end.
    const std::int64_t place = index[i];
    positions[i] =
        place < 0 || place > INT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(place);
    who[i] = static_cast<std::uint32_t>(i);
  });
}

constexpr int kColumns = 64;
constexpr int kRows = kThreads / kColumns;

/// Block (i, strip, outer) belongs to the place of sorted entry i if i is its first one. Four
/// rows of threads take every fourth chooser, and their sums are added in order.
template <class T>
__global__ void sum_kernel(std::int64_t count, std::int64_t extent, std::int64_t inner,
                           const std::uint32_t* positions, const std::uint32_t* who,
                           const T* grad, T* out) {
  __shared__ T sums[kRows][kColumns];
  const std::int64_t first = blockIdx.x;
  const std::uint32_t place = positions[first];
  if (place >= extent || (first > 0 && positions[first - 1] == place)) return;
  const int column = static_cast<int>(threadIdx.x) % kColumns;
  const int row = static_cast<int>(threadIdx.x) / kColumns;
  const std::int64_t within = static_cast<std::int64_t>(blockIdx.y) * kColumns + column;
  const std::int64_t outer = blockIdx.z;
  T sum(0);
  if (within < inner) {
    for (std::int64_t i = first + row; i < count && positions[i] == place; i += kRows)
      sum += grad[(outer * count + who[i]) * inner + within];
  }
  sums[row][column] = sum;
  __syncthreads();
  if (row > 0 || within >= inner) return;
  for (int r = 1; r < kRows; ++r) sum += sums[r][column];
  out[(outer * extent + place) * inner + within] = sum;
}

struct Sorted {
  Tensor positions;  ///< u32 in the memory of f32: tensors have no such type
  Tensor who;
};

std::uint32_t* words(const Tensor& x) {
  return static_cast<std::uint32_t*>(op::address(x));
}

Sorted sort(const Tensor& index) {
  const std::int64_t count = index.numel();
  const auto room = [&] { return Tensor::empty({count}, DType::f32, Device::gpu); };
  const Sorted before{room(), room()};
  const Sorted after{room(), room()};
  number_kernel<<<blocks_for(count), kThreads, 0, stream()>>>(
      count, op::numbers<const std::int64_t>(index), words(before.positions),
      words(before.who));
  check_launch();
  std::size_t bytes = 0;
  const auto run = [&](void* workspace) {
    ATTN_CUDA_CALL(cub::DeviceRadixSort::SortPairs(
        workspace, bytes, words(before.positions), words(after.positions), words(before.who),
        words(after.who), static_cast<int>(count), 0, 32, stream()));
  };
  run(nullptr);
  const Tensor workspace =
      Tensor::empty({static_cast<std::int64_t>(bytes)}, DType::boolean, Device::gpu);
  run(op::address(workspace));
  return after;
}

}  // namespace

void add_places(const Tensor& grad, int axis, const Tensor& index, const Tensor& out) {
  constexpr const char* kWhere = "attn::index_select";
  Tensor(out).fill(0.0);
  if (grad.numel() == 0) return;
  const op::AxisExtents to(out.shape(), axis);
  const std::int64_t count = index.numel();
  const std::int64_t strips = (to.inner + kColumns - 1) / kColumns;
  if (count > INT32_MAX || to.outer > 65535 || strips > 65535)
    fail<Unsupported>(kWhere, ": the gradient of ", count, " places with ", to.outer,
                      " numbers before and ", to.inner,
                      " behind the axis; on the gpu 2^31, 65535 and 4 million are accepted");
  const Sorted sorted = sort(index);
  op::dispatch_real(grad.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(strips),
                    static_cast<unsigned>(to.outer));
    sum_kernel<<<grid, kThreads, 0, stream()>>>(
        count, to.extent, to.inner, words(sorted.positions), words(sorted.who),
        op::numbers<const T>(grad), op::numbers<T>(out));
  });
  check_launch();
}

}  // namespace attn::gpu
