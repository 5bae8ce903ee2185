/// What the checks of one instruction set hand to the test: plain numbers, so that nothing of
/// the standard library is instantiated with that set's instructions.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/macros.hpp"

namespace attn::cpu {

/// The worst case of one law: `measured` may not exceed `allowed`.
struct LaneClaim {
  const char* law;
  double measured;
  double allowed;
  double where;  ///< the argument of the worst case
};

struct LaneReport {
  static constexpr int kRoom = 96;  // the test fails when it is used up
  LaneClaim claims[kRoom];
  int count = 0;

  ATTN_FN void add(const char* law, double measured, double allowed, double where = 0.0) {
    if (count < kRoom) claims[count++] = {law, measured, allowed, where};
  }
  /// A law with exceptions counted: none is allowed.
  ATTN_FN void none(const char* law, int exceptions, double where = 0.0) {
    add(law, exceptions, 0.0, where);
  }
};

}  // namespace attn::cpu
