/// What a place in a sequence means to a Transformer.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/models/options.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models::transformer {

/// The places first, first + 1, ...; what is not defined is not used.
struct Places {
  Tensor sines;       ///< [places, dim], added to words
  RotaryTable turns;  ///< of queries and keys

  Tensor added_to(const Tensor& words) const;
  /// One of them, counted from the first.
  Places at(std::int64_t place) const;
};

struct PlaceRange {
  std::int64_t first;
  std::int64_t count;
};
Places places_of(const ModelOptions& options, const PlaceRange& range, DType dtype);

}  // namespace attn::models::transformer
