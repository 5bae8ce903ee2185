/// Losses.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"

namespace attn {

struct CrossEntropyOptions {
  double smoothing = 0.0;          ///< spread over all classes; Szegedy et al., 2016
  std::int64_t ignore_index = -1;  ///< targets of this value count for nothing
};

/// The mean over the counted targets of -log softmax(logits)[target]: logits [..., classes],
/// targets i64 [...]. 0 when nothing counts. No probabilities are stored beside the gradient.
/// The loss of 16-bit logits is f32: three digits would not tell one step from the next.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options = {});

/// mean((a - b)^2).
Tensor mean_squared_error(const Tensor& a, const Tensor& b);

/// How much of each row of a batch counts: i64 [batch], or none for all of it.
struct CtcLengths {
  Tensor frames = {};
  Tensor labels = {};
};

/// Connectionist temporal classification: for each row -log of the summed probability of all
/// paths through the frames that spell its labels, f32 or f64 [batch]. A path names a label or
/// `blank` in each frame; labels repeated in a row are one, and blanks part them:
///
///     p(labels) = sum over paths, B(path) = labels, of prod_t softmax(logits_t)[path_t]
///
/// logits [batch, frames, classes], labels i64 [batch, longest], none of them `blank`. Labels
/// that no path spells, being too many for the frames, have the loss +inf and the gradient 0.
/// Forward and backward sums run in double and in logarithms, on the CPU; of logits on the GPU
/// a copy is read, and the gradient goes back. Graves et al., 2006.
Tensor ctc_loss(const Tensor& logits, const Tensor& labels, const CtcLengths& lengths = {},
                std::int64_t blank = 0);

}  // namespace attn
