/// Oracle: the answer in double by plain loops, which every contender must match to count.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "data.hpp"
#include "problem.hpp"

namespace attn::bench {

/// What a contender's witness should hold.
Witness oracle(const Problem& problem, const Data& data);

/// The largest ‖a − b‖ / ‖b‖ over the tensors of `expected`; infinity where one is missing, has
/// another size or holds a number that is not finite.
double error(const Witness& seen, const Witness& expected);

/// float32 arithmetic lands near 1e-6; anything wrong lands near 1.
inline constexpr double kAcceptedError = 2e-5;

}  // namespace attn::bench
