/// Random data from a named seed, which a failing test prints.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace attn::test {

/// Numbers that depend on the name alone. While it lives, failures show the name.
class Random {
 public:
  explicit Random(std::string_view name)
      : engine_(seed_of(name)),
        trace_(__FILE__, __LINE__, "random data of seed \"" + std::string(name) + "\"") {}

  double uniform(double low, double high) {
    // Not std::uniform_real_distribution: its numbers differ between standard libraries.
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  int whole(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  template <class T = double>
  std::vector<T> numbers(std::size_t count, double low = -1.0, double high = 1.0) {
    std::vector<T> result(count);
    for (T& x : result) x = static_cast<T>(uniform(low, high));
    return result;
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<std::size_t>(engine_() % i)]);
  }

 private:
  /// FNV-1a.
  static constexpr std::uint64_t seed_of(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
  }

  std::mt19937_64 engine_;
  testing::ScopedTrace trace_;
};

}  // namespace attn::test
