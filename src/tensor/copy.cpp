// Copies between tensors of any strides, element types and devices.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/convert.hpp"
#include "tensor/cpu/rows.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"

namespace attn::op {
namespace {

std::size_t bytes_of(const Tensor& x) {
  return static_cast<std::size_t>(x.numel()) * size_of(x.dtype());
}

template <class From, class To>
void copy_rows(const Tensor& from, const Tensor& to) {
  const auto* source = static_cast<const From*>(from.raw());
  auto* target = static_cast<To*>(const_cast<void*>(to.raw()));
  cpu::for_rows<2>(to.shape(), {to.strides(), from.strides()},
                   [&](std::int64_t count, const std::array<std::int64_t, 2>& at,
                       const std::array<std::int64_t, 2>& step) {
                     To* t = target + at[0];
                     const From* s = source + at[1];
                     if constexpr (std::is_same_v<From, To>) {
                       if (step[0] == 1 && step[1] == 1) {
                         std::copy_n(s, count, t);
                         return;
                       }
                     }
                     for (std::int64_t i = 0; i < count; ++i)
                       t[i * step[0]] = convert<To>(s[i * step[1]]);
                   });
}

void fill_rows(const Tensor& to, double value) {
  dispatch_any(to.dtype(), [&]<class T>(T) {
    const T wanted = convert<T>(value);
    auto* target = static_cast<T*>(const_cast<void*>(to.raw()));
    cpu::for_rows<1>(to.shape(), {to.strides()},
                     [&](std::int64_t count, const std::array<std::int64_t, 1>& at,
                         const std::array<std::int64_t, 1>& step) {
                       for (std::int64_t i = 0; i < count; ++i)
                         target[at[0] + i * step[0]] = wanted;
                     });
  });
}

/// Copies on one device.
void copy_here(const Tensor& from, const Tensor& to) {
  dispatch_device(
      to,
      [&] {
        dispatch_any(from.dtype(), [&]<class From>(From) {
          dispatch_any(to.dtype(), [&]<class To>(To) { copy_rows<From, To>(from, to); });
        });
      },
      [&] { gpu::copy(from, to); });
}

/// x row by row in the given type; itself when it is.
Tensor packed(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype && x.is_contiguous()) return x;
  const Tensor result = Tensor::empty(x.shape(), dtype, x.device());
  copy_here(x, result);
  return result;
}

}  // namespace

void copy(const Tensor& from, const Tensor& to) {
  if (from.device() == to.device()) return copy_here(from, to);
  // Packed numbers travel, and are laid out where they arrive.
  const Tensor sent = packed(from, to.dtype());
  const Tensor arrived =
      to.is_contiguous() ? to : Tensor::empty(to.shape(), to.dtype(), to.device());
  dispatch_device(
      to, [&] { gpu::download(address(arrived), address(sent), bytes_of(sent)); },
      [&] { gpu::upload(address(arrived), address(sent), bytes_of(sent)); });
  if (!to.is_contiguous()) copy_here(arrived, to);
}

void fill(const Tensor& to, double value) {
  dispatch_device(to, [&] { fill_rows(to, value); }, [&] { gpu::fill(to, value); });
}

}  // namespace attn::op
