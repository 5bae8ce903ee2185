/// Comparing a result with the stored one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>

#include "tools/conformance/array.hpp"
#include "tools/conformance/tolerance.hpp"

namespace attn::conformance {

/// Where a result is furthest beyond its tolerance.
struct Difference {
  double excess = 0.0;  ///< error over what was allowed
  std::string text;     ///< "Y differs by 3e-2 at [0, 1, 2]: got 0.5, expected 0.47 (...)"
};

/// Nothing when type, shape and all elements agree. Equal infinities agree, and NaN with NaN.
std::optional<Difference> compare(const std::string& name, const Array& got, const Array& want,
                                  const Tolerance& tolerance);

}  // namespace attn::conformance
