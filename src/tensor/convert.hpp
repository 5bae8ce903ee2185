/// One element type's number as another's, for CPU and GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/macros.hpp"

namespace attn::op {

template <class To, class From>
ATTN_FN To convert(From x) {
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

/// Calls run(T{}) for a type of real numbers.
template <class Run>
void dispatch_numbers(DType dtype, const char* where, const Run& run) {
  switch (dtype) {
    case DType::f64:
      return run(double{});
    case DType::f32:
      return run(float{});
    case DType::bf16:
      return run(BFloat16{});
    case DType::f16:
      return run(Float16{});
    default:
      fail(where, ": dtype ", name_of(dtype), "; f32, f64, bf16 and f16 are accepted");
  }
}

/// Calls run(T{}) for the element type of a tensor.
template <class Run>
void dispatch_any(DType dtype, const Run& run) {
  if (dtype == DType::i64) return run(std::int64_t{});
  if (dtype == DType::boolean) return run(bool{});
  dispatch_numbers(dtype, "attn::Tensor, beside i64 and bool", run);
}

}  // namespace attn::op
