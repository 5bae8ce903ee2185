/// Softmax of scores of which only the first ones exist.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "attn/tensor/tensor.hpp"

namespace attn::nn {

struct MaskedSoftmaxOptions {
  /// Masked scores are replaced by this number instead of left out, as much code in the field
  /// does with -1e6. A length of 0 then gives uniform weights over padding.
  std::optional<double> fill{};
};

/// w_ij = exp(x_ij) / sum_{k < len} exp(x_ik) for j < len, else 0, the maximum subtracted.
/// x [batch, queries, keys]; valid_lens i64 [batch] or [batch, queries], or none. A length of 0
/// gives a row of zeros. A masked score may be NaN or infinite: it is selected away, in the
/// gradient too.
Tensor masked_softmax(const Tensor& x, const Tensor& valid_lens = {},
                      const MaskedSoftmaxOptions& options = {});

}  // namespace attn::nn
