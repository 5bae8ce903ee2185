/// A learnt vector for each position, added to the features. Gehring et al., 2017,
/// arXiv:1705.03122.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/embedding.hpp"

namespace attn::nn {

struct LearnedPositionOptions {
  std::int64_t max_positions;
  std::int64_t dim;
};

/// out = x + P[offset : offset + positions]. Rows that are not used get gradient 0.
class LearnedPosition : public Module {
 public:
  explicit LearnedPosition(const LearnedPositionOptions& options);

  /// x [batch, positions, dim]; running past max_positions is an error.
  Tensor operator()(const Tensor& x, std::int64_t offset = 0) const;

 private:
  Embedding p_;  ///< "P" [max_positions, dim]
};

}  // namespace attn::nn
