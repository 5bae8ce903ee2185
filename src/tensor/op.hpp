/// What the sources of ops share: checks, dispatch on the element type, copies, work in
/// parallel.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::op {

inline bool is_real(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::bf16 ||
         dtype == DType::f16;
}
inline bool is_half(DType dtype) {
  return dtype == DType::bf16 || dtype == DType::f16;
}

/// Throws unless the tensor is there and holds real numbers.
void require_real(const Tensor& x, const char* where, const char* name);
void require_dtype(const Tensor& x, DType dtype, const char* where, const char* name);
/// Throws unless both hold the same type and lie on the same device.
void require_same_kind(const Tensor& a, const Tensor& b, const char* where);
void require_shape(const Tensor& x, const Shape& shape, const char* where, const char* name);

/// Throws unless both lie on the same device.
void require_same_device(const Tensor& a, const Tensor& b, const char* where);
/// Without CUDA nothing lies on the GPU, and nothing below src/tensor/gpu is there to call.
#if defined(ATTN_CUDA) || defined(__CUDACC__)
inline constexpr bool kHasGpu = true;
#else
inline constexpr bool kHasGpu = false;
#endif
inline bool on_gpu(const Tensor& x) {
  return x.device() == Device::gpu;
}

/// Whether an op widens x first: the CPU computes in f32 and f64, the GPU widens 16-bit types
/// number by number.
inline bool is_widened(const Tensor& x) {
  return is_half(x.dtype()) && !on_gpu(x);
}
/// Calls cpu() or gpu(), the half of an op that the device of x has.
template <class Cpu, class Gpu>
decltype(auto) dispatch_device(const Tensor& x, const Cpu& cpu,
                               [[maybe_unused]] const Gpu& gpu) {
  if constexpr (kHasGpu)
    if (on_gpu(x)) return gpu();
  return cpu();
}

/// The type that sums of x run in.
inline DType sum_dtype(const Tensor& x) {
  return x.dtype() == DType::f64 ? DType::f64 : DType::f32;
}
/// In f32; and off the tape, row by row. What is no tensor stays so.
inline Tensor widened(const Tensor& x) {
  return x.defined() ? x.to(DType::f32) : x;
}
inline Tensor packed_or_none(const Tensor& x) {
  return x.defined() ? x.detach().contiguous() : x;
}

/// to = from, converted; the shapes are equal. To the CPU it waits for the GPU.
void copy(const Tensor& from, const Tensor& to);
void fill(const Tensor& to, double value);

/// Where a tensor's numbers begin, in the memory of its device; for kernels of that device.
void* address(const Tensor& x);
/// The same to read (const T) or, counting as a write, to write (T).
template <class T>
T* numbers(const Tensor& x) {
  if (x.dtype() != kDType<std::remove_const_t<T>>)
    fail("attn::Tensor: ", x.text(), " used as ", name_of(kDType<std::remove_const_t<T>>));
  if constexpr (!std::is_const_v<T>) x.impl().storage->wrote();
  return static_cast<T*>(address(x));
}
template <class T>
const T* numbers_or_null(const Tensor& x) {
  return x.defined() ? numbers<const T>(x) : nullptr;
}

/// Calls run(float{}) or run(double{}). 16-bit types are widened by the callers before.
template <class Run>
decltype(auto) dispatch_real(DType dtype, const char* where, const Run& run) {
  if (dtype == DType::f64) return run(double{});
  if (dtype != DType::f32)
    fail(where, ": dtype ", name_of(dtype), "; f32 and f64 are accepted here");
  return run(float{});
}

/// Calls cpu(float{}), cpu(double{}) or gpu().
template <class Cpu, class Gpu>
decltype(auto) dispatch_device_and_real(const Tensor& x, const char* where, const Cpu& cpu,
                                        const Gpu& gpu) {
  return dispatch_device(x, [&] { return dispatch_real(x.dtype(), where, cpu); }, gpu);
}

/// record() of an op from x alone to y: back(gradient of y) is the gradient of x.
template <class Back>
Tensor record_one(const char* name, const Tensor& x, const Tensor& y, const Back& back) {
  return record(name, {x}, y, [back](const Gradients& grads, const Needs&) -> Gradients {
    return {back(grads[0])};
  });
}

/// Calls run(begin, end) for blocks of at most `grain` of [0, count), in parallel. The blocks
/// depend on count and grain alone.
template <class Run>
void in_blocks(std::int64_t count, std::int64_t grain, const Run& run) {
  if (count <= 0) return;
  if (count <= grain) return run(std::int64_t{0}, count);
  const std::int64_t blocks = (count + grain - 1) / grain;
  ThreadPool::shared().parallel_for(static_cast<int>(blocks), ThreadPool::default_threads(),
                                    [&](int block) {
                                      const std::int64_t begin = block * grain;
                                      run(begin, std::min(count, begin + grain));
                                    });
}

/// Numbers worth a task of their own: below, handing work to another thread costs more.
inline constexpr std::int64_t kGrain = 32768;

/// Calls run(i) for all i below count, in parallel; each is work on about `numbers` numbers.
template <class Run>
void each(std::int64_t count, std::int64_t numbers, const Run& run) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, numbers));
  in_blocks(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) run(i);
  });
}

}  // namespace attn::op
