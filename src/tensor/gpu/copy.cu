#include <cstdint>

#include "tensor/gpu/copy.hpp"
#include "tensor/gpu/launch.cuh"

namespace attn::gpu {
namespace {

template <class From, class To>
__global__ void copy_kernel(Places<2> places, const From* from, To* to) {
  for_numbers(places.count, [&](std::int64_t i) {
    std::int64_t at[2];
    places.at(i, at);
    to[at[0]] = op::convert<To>(from[at[1]]);
  });
}

template <class T>
__global__ void fill_kernel(Places<1> places, T value, T* to) {
  for_numbers(places.count, [&](std::int64_t i) {
    std::int64_t at[1];
    places.at(i, at);
    to[at[0]] = value;
  });
}

__global__ void count_up_kernel(std::int64_t count, std::int64_t* to) {
  for_numbers(count, [&](std::int64_t i) { to[i] = i; });
}

}  // namespace

void copy(const Tensor& from, const Tensor& to) {
  if (to.numel() == 0) return;
  const Places<2> places(to.shape(), {to.strides(), from.strides()});
  op::dispatch_any(from.dtype(), [&](auto source) {
    op::dispatch_any(to.dtype(), [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      copy_kernel<<<blocks_for(places.count), kThreads, 0, stream()>>>(
          places, static_cast<const From*>(op::address(from)),
          static_cast<To*>(op::address(to)));
      check_launch();
    });
  });
}

void fill(const Tensor& to, double value) {
  if (to.numel() == 0) return;
  const Places<1> places(to.shape(), {to.strides()});
  op::dispatch_any(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    fill_kernel<<<blocks_for(places.count), kThreads, 0, stream()>>>(
        places, op::convert<T>(value), static_cast<T*>(op::address(to)));
    check_launch();
  });
}

void count_up(const Tensor& to) {
  if (to.numel() == 0) return;
  count_up_kernel<<<blocks_for(to.numel()), kThreads, 0, stream()>>>(
      to.numel(), static_cast<std::int64_t*>(op::address(to)));
  check_launch();
}

}  // namespace attn::gpu
