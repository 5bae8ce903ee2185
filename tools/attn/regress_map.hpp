/// The picture of a kernel regression: points, curves, and the weights behind predictions.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "attn/maps/map.hpp"
#include "tools/attn/regression.hpp"

namespace attn::tools {

struct SeriesNames {
  std::string title;
  std::string x;
  std::string y;
};

/// Queries are the held-out places, in order.
maps::Curve map_of(const Regression& result, const SeriesNames& names);

}  // namespace attn::tools
