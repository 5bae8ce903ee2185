/// Arrays of any element type, owned: what flows between the operators of a case.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"

namespace attn::conformance {

using Shape = std::vector<std::int64_t>;

/// Cases are small; one that asks for more than this many elements, or products, is damaged.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 26;
inline constexpr std::int64_t kMaxWork = std::int64_t{1} << 32;

/// The product of the extents, those of 0 counted as 1; FileError if it exceeds `limit`. What
/// passes can be looped over, even if it is empty.
std::int64_t checked_volume(std::span<const std::int64_t> extents, std::int64_t limit,
                            const std::string& what);

struct Array {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::byte> bytes;

  std::int64_t size() const;
  template <class T>
  T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
};

/// Zeros; FileError if that is more than a case may hold.
Array make_array(DType dtype, Shape shape);

/// Element i as a number; whole numbers beyond 2^53 are rounded.
double element(const Array& array, std::int64_t i);
std::vector<double> to_doubles(const Array& array);
/// Whole numbers alone.
std::vector<std::int64_t> to_ints(const Array& array, const std::string& name);

/// The same numbers in another element type.
Array cast(const Array& array, DType dtype);

bool is_float(DType dtype);

/// Calls f(T{}) with the C++ type of a float dtype.
template <class F>
auto with_float_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::f64:
      return f(double{});
    case DType::f32:
      return f(float{});
    case DType::bf16:
      return f(BFloat16{});
    case DType::f16:
      return f(Float16{});
    default:
      fail<FileError>(name_of(dtype), " elements; accepted: f64, f32, bf16, f16");
  }
}

}  // namespace attn::conformance
