/// How parameters begin, and the random stream of this thread that they and dropout draw from.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// The stream of the calling thread. A training run that saves its key and drawn() goes on with
/// the same numbers.
Random& random();
/// Starts the stream again.
void seed(std::uint64_t seed);

/// While one lives, parameters of this thread begin as zeros and nothing is drawn: for a model
/// whose numbers come from a file, where drawing them would take longer than reading them.
class ZeroStart {
 public:
  ZeroStart();
  ~ZeroStart();
  ZeroStart(const ZeroStart&) = delete;
  ZeroStart& operator=(const ZeroStart&) = delete;

 private:
  bool before_;
};

/// Whether parameters begin as zeros on this thread.
bool starts_at_zero();

/// N(0, 1).
Tensor standard_normal(const Shape& shape);
/// U(-bound, bound).
Tensor uniform_within(const Shape& shape, double bound);
/// U(-1/sqrt(fan_in), 1/sqrt(fan_in)): what torch gives a linear layer.
Tensor fan_in_uniform(const Shape& shape, std::int64_t fan_in);
/// U(-a, a), a = sqrt(6 / (in + out)), of a matrix [out, in]. Glorot and Bengio, 2010.
Tensor glorot_uniform(const Shape& shape);

}  // namespace attn::nn
