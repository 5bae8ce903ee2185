// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/fourier.hpp"

#include <complex>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

namespace attn::tasks {

void fourier_transform(std::vector<std::complex<double>>& x) {
  const std::size_t count = x.size();
  for (std::size_t i = 1, j = 0; i < count; ++i) {
    std::size_t bit = count >> 1U;
    for (; (j & bit) != 0; bit >>= 1U) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t length = 2; length <= count; length *= 2) {
    const std::complex<double> turn =
        std::polar(1.0, -2.0 * std::numbers::pi / static_cast<double>(length));
    for (std::size_t begin = 0; begin < count; begin += length) {
      std::complex<double> factor = 1.0;
      for (std::size_t i = 0; i < length / 2; ++i) {
        const std::complex<double> even = x[begin + i];
        const std::complex<double> odd = x[begin + i + length / 2] * factor;
        x[begin + i] = even + odd;
        x[begin + i + length / 2] = even - odd;
        factor *= turn;
      }
    }
  }
}

}  // namespace attn::tasks
