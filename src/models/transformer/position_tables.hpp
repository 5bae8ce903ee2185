/// What a position in a sequence means to a Transformer: sines that are added, or rotations.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <mutex>

#include "attn/core/dtype.hpp"
#include "attn/models/options.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models::transformer {

/// Of the positions first, first + 1, ...; what is not defined is not used.
struct PositionTables {
  Tensor sines;        ///< [positions, dim], added to words
  RotaryTable rotary;  ///< of queries and keys

  Tensor added_to(const Tensor& words) const;
  /// One of them, counted from the first; the first `count`; the same elsewhere.
  PositionTables at(std::int64_t position) const;
  PositionTables first(std::int64_t count) const;
  PositionTables to(Device device) const;
};

struct PositionRange {
  std::int64_t first;
  std::int64_t count;
};
PositionTables position_tables(const ModelOptions& options, const PositionRange& range,
                               DType dtype);

/// The tables from position 0 on, as long as a model has needed so far: making them takes as
/// long as a small batch on the GPU. Any thread may ask.
class PositionCache {
 public:
  PositionTables get(const ModelOptions& options, std::int64_t count, DType dtype,
                     Device device);

 private:
  std::mutex guard_;
  std::int64_t count_ = 0;
  DType dtype_ = DType::f32;
  Device device_ = Device::cpu;
  PositionTables tables_;
};

}  // namespace attn::models::transformer
