#include "tools/conformance/array.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"

namespace attn::conformance {
namespace {

template <class T>
double widen(T x) {
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
    return static_cast<double>(static_cast<float>(x));
  } else {
    return static_cast<double>(x);
  }
}

/// The nearest whole number of a type; casting a double beyond its range is undefined.
template <class T>
T narrow(double x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x != 0.0;
  } else if constexpr (std::is_integral_v<T>) {
    if (!(x > static_cast<double>(std::numeric_limits<T>::min())))
      return std::numeric_limits<T>::min();
    if (x >= static_cast<double>(std::numeric_limits<T>::max()))
      return std::numeric_limits<T>::max();
    return static_cast<T>(x);
  } else if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return T(static_cast<float>(x));
  }
}

template <class F>
auto with_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::f64:
      return f(double{});
    case DType::f32:
      return f(float{});
    case DType::bf16:
      return f(BFloat16{});
    case DType::f16:
      return f(Float16{});
    case DType::i64:
      return f(std::int64_t{});
    case DType::i32:
      return f(std::int32_t{});
    case DType::i16:
      return f(std::int16_t{});
    case DType::i8:
      return f(std::int8_t{});
    case DType::u8:
      return f(std::uint8_t{});
    case DType::boolean:
      return f(bool{});
  }
  return f(float{});
}

}  // namespace

std::int64_t checked_volume(std::span<const std::int64_t> extents, std::int64_t limit,
                            const std::string& what) {
  std::int64_t volume = 1;
  for (const std::int64_t extent : extents) {
    const std::int64_t factor = std::max<std::int64_t>(extent, 1);
    if (factor > limit / volume)
      fail<FileError>(what, " ", files::shape_text(extents),
                      " is too large for a case; at most ", limit, " are accepted");
    volume *= factor;
  }
  return volume;
}

std::int64_t Array::size() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

Array make_array(DType dtype, Shape shape) {
  checked_volume(shape, kMaxElements, "a result of shape");
  Array array{dtype, std::move(shape), {}};
  // Never without memory: an empty table or view still needs an address.
  array.bytes.resize(static_cast<std::size_t>(std::max<std::int64_t>(array.size(), 1)) *
                     size_of(dtype));
  return array;
}

double element(const Array& array, std::int64_t i) {
  return with_type(array.dtype,
                   [&](auto zero) { return widen(array.data<decltype(zero)>()[i]); });
}

std::vector<double> to_doubles(const Array& array) {
  std::vector<double> numbers(static_cast<std::size_t>(array.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = element(array, static_cast<std::int64_t>(i));
  return numbers;
}

std::vector<std::int64_t> to_ints(const Array& array, const std::string& name) {
  if (array.dtype == DType::i64) {
    const auto* from = array.data<std::int64_t>();
    return {from, from + array.size()};
  }
  if (is_float(array.dtype) || array.dtype == DType::boolean)
    fail<FileError>(name, " holds ", name_of(array.dtype), "; expected whole numbers");
  std::vector<std::int64_t> numbers;
  for (const double x : to_doubles(array)) numbers.push_back(static_cast<std::int64_t>(x));
  return numbers;
}

Array cast(const Array& array, DType dtype) {
  if (array.dtype == dtype) return array;
  Array result = make_array(dtype, array.shape);
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < result.size(); ++i)
      result.data<T>()[i] = narrow<T>(element(array, i));
  });
  return result;
}

bool is_float(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::bf16 ||
         dtype == DType::f16;
}

}  // namespace attn::conformance
