/// Random numbers that are a function of a seed, a name and a counter: the same on every
/// machine and for every number of threads.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string_view>

#include "attn/core/dtype.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {

/// A stream of seeds. Each draw takes the next one, so the state is two numbers, which a
/// checkpoint can hold.
class Random {
 public:
  explicit Random(std::uint64_t seed = 0) : key_(seed) {}
  /// A stream of its own: Random(7).named("dropout"). The same name gives the same stream.
  Random named(std::string_view name) const;

  /// The key of the next draw.
  std::uint64_t next();

  std::uint64_t key() const { return key_; }
  std::uint64_t drawn() const { return drawn_; }
  /// Continues a stream with this key at its count.
  static Random at(std::uint64_t key, std::uint64_t drawn);

 private:
  std::uint64_t key_ = 0;
  std::uint64_t drawn_ = 0;
};

// The same numbers on every device.
Tensor uniform(const Shape& shape, double low, double high, Random& random,
               DType dtype = DType::f32, Device device = Device::cpu);
Tensor normal(const Shape& shape, double mean, double deviation, Random& random,
              DType dtype = DType::f32, Device device = Device::cpu);
/// Whole numbers in [low, high).
Tensor random_integers(const Shape& shape, std::int64_t low, std::int64_t high, Random& random);
/// 0, ..., count - 1 in a random order.
Tensor permutation(std::int64_t count, Random& random);

/// x / (1 - probability) where a draw keeps it, else 0. Srivastava et al., 2014.
Tensor dropout(const Tensor& x, double probability, Random& random);

}  // namespace attn
