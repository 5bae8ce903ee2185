/// Strided: numbers stored with any order of axes, gaps, direction and element type, so that
/// kernels meet every layout. What lies between the elements is NaN, and must stay so.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/view.hpp"

namespace attn::test {

/// How an array of rank four lies in memory.
enum class Lay {
  packed,
  transposed,        ///< [batch, position, head, channel]
  padded,            ///< gaps behind rows and heads
  reversed,          ///< positions and heads run backwards
  spread,            ///< channels two apart
  channel_first,     ///< [batch, head, channel, position]
  channel_reversed,  ///< channels run backwards
  shared_heads,      ///< all heads are the same memory; inputs alone
};
inline constexpr int kLays = 7;  ///< without shared_heads

using Shape = std::array<std::int64_t, 4>;

inline double widen(double x) {
  return x;
}
template <class T>
double widen(T x) {
  return static_cast<double>(static_cast<float>(x));
}
template <class T>
T narrow(double x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return T(static_cast<float>(x));
  }
}

template <class T>
class Strided {
 public:
  Strided(const Shape& shape, Lay lay) : shape_(shape) {
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    if (lay == Lay::transposed) order = {0, 2, 1, 3};
    if (lay == Lay::channel_first) order = {0, 1, 3, 2};
    std::int64_t step = lay == Lay::spread ? 2 : 1;
    std::int64_t first = 0;
    for (std::size_t i = 4; i-- > 0;) {
      const std::size_t axis = order[i];
      strides_[axis] = step;
      if (lay == Lay::shared_heads && axis == 1) {
        strides_[axis] = 0;
        continue;
      }
      const bool backwards = (lay == Lay::reversed && (axis == 1 || axis == 2)) ||
                             (lay == Lay::channel_reversed && axis == 3);
      if (backwards) {
        strides_[axis] = -step;
        if (shape[axis] > 0) first += (shape[axis] - 1) * step;
      }
      step *= shape[axis];
      if (lay == Lay::padded && axis > 0) step += 3;
    }
    storage_.assign(static_cast<std::size_t>(step) + 1, narrow<T>(NAN));
    first_ = first;
  }
  /// Holds `values`, row by row.
  Strided(const Shape& shape, Lay lay, const std::vector<double>& values)
      : Strided(shape, lay) {
    std::size_t i = 0;
    for_each([&](T& element) { element = narrow<T>(values[i++]); });
  }

  View<T, 4> view() { return {storage_.data() + first_, shape_, strides_}; }

  /// The elements row by row.
  std::vector<double> values() {
    std::vector<double> result;
    for_each([&](T& element) { result.push_back(widen(element)); });
    return result;
  }
  /// What was written outside the view, in words; empty if nothing was.
  std::string damage() {
    std::vector<T> before = storage_;
    for_each([&](T& element) { element = narrow<T>(NAN); });
    std::size_t damaged = 0;
    for (const T& element : storage_) damaged += std::isnan(widen(element)) ? 0 : 1;
    storage_ = before;
    return damaged == 0 ? "" : std::to_string(damaged) + " elements outside the view written";
  }

 private:
  template <class Visit>
  void for_each(const Visit& visit) {
    const View<T, 4> all = view();
    for (std::int64_t b = 0; b < shape_[0]; ++b)
      for (std::int64_t h = 0; h < shape_[1]; ++h)
        for (std::int64_t i = 0; i < shape_[2]; ++i)
          for (std::int64_t c = 0; c < shape_[3]; ++c) visit(*all.at(b, h, i, c));
  }

  Shape shape_{};
  std::array<std::int64_t, 4> strides_{};
  std::int64_t first_ = 0;
  std::vector<T> storage_;
};

}  // namespace attn::test
