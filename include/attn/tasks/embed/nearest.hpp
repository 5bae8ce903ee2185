/// Nearest: the vectors most alike to some, out of more than are in memory at once.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

struct Match {
  std::int64_t place = 0;  ///< of the vector, counted over all that were added
  float score = 0.0f;      ///< the dot product: the cosine, of vectors of length one
};

class Nearest {
 public:
  /// For each row of `queries` [queries, width], the `most` best matches; most > 0.
  Nearest(const Tensor& queries, std::int64_t most);

  /// Rows of `vectors` [count, width], which are looked at and not kept.
  void add(const Tensor& vectors);

  /// For each query its matches, best first; of equal ones the earlier.
  const std::vector<std::vector<Match>>& matches() const { return matches_; }

 private:
  Tensor queries_;
  std::int64_t most_;
  std::int64_t seen_ = 0;
  std::vector<std::vector<Match>> matches_;
};

}  // namespace attn::tasks
