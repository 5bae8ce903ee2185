/// What a place in a sequence means to a Transformer.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <mutex>

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
  /// One of them, counted from the first; the first `count`; the same elsewhere.
  Places at(std::int64_t place) const;
  Places first(std::int64_t count) const;
  Places to(Device device) const;
};

struct PlaceRange {
  std::int64_t first;
  std::int64_t count;
};
Places places_of(const ModelOptions& options, const PlaceRange& range, DType dtype);

/// The places from 0 on that a model has had so far: making them takes as long as a small batch
/// on the GPU. Any thread may ask.
class FirstPlaces {
 public:
  Places get(const ModelOptions& options, std::int64_t count, DType dtype, Device device);

 private:
  std::mutex guard_;
  std::int64_t count_ = 0;
  DType dtype_ = DType::f32;
  Device device_ = Device::cpu;
  Places made_;
};

}  // namespace attn::models::transformer
