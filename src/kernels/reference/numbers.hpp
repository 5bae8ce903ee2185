/// Numbers of any storage type, in double.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace attn::reference {

using Numbers = std::vector<double>;

template <class T>
double wide(T x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return static_cast<double>(static_cast<float>(x));
  }
}
template <class T>
T narrow(double x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return T(static_cast<float>(x));
  }
}

/// `count` numbers from `from` on; nothing gives zeros.
template <class T>
Numbers read(const T* from, std::int64_t stride, std::int64_t count) {
  Numbers result(static_cast<std::size_t>(count));
  for (std::int64_t c = 0; from != nullptr && c < count; ++c)
    result[static_cast<std::size_t>(c)] = wide(from[c * stride]);
  return result;
}

}  // namespace attn::reference
