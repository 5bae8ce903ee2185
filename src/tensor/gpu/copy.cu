// Copies between strided tensors and between element types on the GPU.

#include <cstdint>

#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/launch.cuh"

namespace attn::gpu {
namespace {

template <class From, class To>
__global__ void copy_kernel(Places<2> positions, const From* from, To* to) {
  for_numbers(positions.count, [&](std::int64_t i) {
    std::int64_t at[2];
    positions.at(i, at);
    to[at[0]] = op::convert<To>(from[at[1]]);
  });
}

/// Both tensors as rows of 16 bytes, if they are: `positions` then counts those.
bool in_rows_of_16_bytes(Places<2>& positions, std::int64_t size, const void* to,
                         const void* from) {
  const std::int64_t count = 16 / size;
  const int last = positions.rank - 1;
  const auto begins_even = [](const void* x) {
    return reinterpret_cast<std::uintptr_t>(x) % 16 == 0;
  };
  if (last < 0 || positions.extents[last] % count != 0 || !begins_even(to) ||
      !begins_even(from))
    return false;
  for (const auto& strides : positions.strides) {
    if (strides[last] != 1) return false;
    for (int axis = 0; axis < last; ++axis)
      if (strides[axis] % count != 0) return false;
  }
  positions.count /= count;
  positions.extents[last] /= count;
  for (auto& strides : positions.strides)
    for (int axis = 0; axis < last; ++axis) strides[axis] /= count;
  return true;
}

template <class T>
__global__ void fill_kernel(Places<1> positions, T value, T* to) {
  for_numbers(positions.count, [&](std::int64_t i) {
    std::int64_t at[1];
    positions.at(i, at);
    to[at[0]] = value;
  });
}

__global__ void count_up_kernel(std::int64_t count, std::int64_t* to) {
  for_numbers(count, [&](std::int64_t i) { to[i] = i; });
}

}  // namespace

void copy(const Tensor& from, const Tensor& to) {
  if (to.numel() == 0) return;
  Places<2> positions(to.shape(), {to.strides(), from.strides()});
  if (from.dtype() == to.dtype() &&
      in_rows_of_16_bytes(positions, static_cast<std::int64_t>(size_of(to.dtype())),
                          op::address(to), op::address(from))) {
    return launch(positions.count, copy_kernel<uint4, uint4>, positions,
                  static_cast<const uint4*>(op::address(from)),
                  static_cast<uint4*>(op::address(to)));
  }
  op::dispatch_any(from.dtype(), [&](auto source) {
    op::dispatch_any(to.dtype(), [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      launch(positions.count, copy_kernel<From, To>, positions,
             static_cast<const From*>(op::address(from)), static_cast<To*>(op::address(to)));
    });
  });
}

void fill(const Tensor& to, double value) {
  const Places<1> positions(to.shape(), {to.strides()});
  op::dispatch_any(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(positions.count, fill_kernel<T>, positions, op::convert<T>(value),
           static_cast<T*>(op::address(to)));
  });
}

void count_up(const Tensor& to) {
  launch(to.numel(), count_up_kernel, to.numel(), static_cast<std::int64_t*>(op::address(to)));
}

}  // namespace attn::gpu
