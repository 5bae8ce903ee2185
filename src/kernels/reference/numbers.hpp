/// Numbers of any storage type, in double.

#pragma once

// SPDX-License-Identifier: Apache-2.0

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

}  // namespace attn::reference
