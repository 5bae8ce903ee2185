#include "tensor/copy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/rows.hpp"

namespace attn::cpu {
namespace {

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<From, BFloat16> || std::is_same_v<From, Float16>) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<double>(x) != 0.0;
  } else if constexpr (std::is_same_v<To, BFloat16> || std::is_same_v<To, Float16>) {
    return To(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void copy_rows(const Tensor& from, const Tensor& to) {
  const auto* source = static_cast<const From*>(from.raw());
  auto* target = static_cast<To*>(const_cast<void*>(to.raw()));
  for_rows<2>(to.shape(), {to.strides(), from.strides()},
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

/// Calls run(T{}) for the element type.
template <class Run>
void dispatch(DType dtype, const Run& run) {
  switch (dtype) {
    case DType::f64:
      return run(double{});
    case DType::f32:
      return run(float{});
    case DType::bf16:
      return run(BFloat16{});
    case DType::f16:
      return run(Float16{});
    case DType::i64:
      return run(std::int64_t{});
    case DType::boolean:
      return run(bool{});
    default:
      fail("attn::Tensor: dtype ", name_of(dtype), " is no element type of tensors");
  }
}

}  // namespace

void copy(const Tensor& from, const Tensor& to) {
  dispatch(from.dtype(), [&](auto source) {
    dispatch(to.dtype(),
             [&](auto target) { copy_rows<decltype(source), decltype(target)>(from, to); });
  });
}

void fill(const Tensor& to, double value) {
  dispatch(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T wanted = convert<T>(value);
    auto* target = static_cast<T*>(const_cast<void*>(to.raw()));
    for_rows<1>(to.shape(), {to.strides()},
                [&](std::int64_t count, const std::array<std::int64_t, 1>& at,
                    const std::array<std::int64_t, 1>& step) {
                  for (std::int64_t i = 0; i < count; ++i) target[at[0] + i * step[0]] = wanted;
                });
  });
}

}  // namespace attn::cpu
