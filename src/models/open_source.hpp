/// The part of a source that a steered step may look at, for decoders that know lengths alone.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/models/steering.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

/// What the others have at closed positions is left out, not masked: attention over content
/// does not care where a key stood.
class OpenSource {
 public:
  OpenSource(const DecoderSource& whole, const Steering& steering, std::int64_t step);

  const DecoderSource& source() const { return open_; }
  /// Weights [rows, steps, open] where they belong, [rows, steps, source].
  Tensor spread(const Tensor& weights) const;

 private:
  DecoderSource open_;
  Tensor places_;  ///< i64 [open]; none: all are open
  std::int64_t extent_;
};

}  // namespace attn::models
