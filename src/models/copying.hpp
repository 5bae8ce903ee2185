/// Copying: a word is generated from the vocabulary or taken from the source, where source and
/// target share one vocabulary. See, Liu and Manning, 2017, arXiv:1704.04368.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/models/seq2seq.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/mechanisms/pointer/pointer_generator.hpp"
#include "attn/nn/module.hpp"

namespace attn::models {

/// What words are copied from.
struct CopySource {
  Tensor ids;      ///< i64 [batch, source]
  Tensor lengths;  ///< i64 [batch]
  Tensor values;   ///< [batch, source, dim]
  Tensor keys;     ///< the same, projected

  void select(const Tensor& rows);
};

/// Where the copying part looked.
struct CopyResult {
  Tensor weights;        ///< [batch, steps, source]
  Tensor context;        ///< [batch, steps, dim]
  Tensor generates;      ///< [batch, steps]: the probability to generate
  Tensor covered;        ///< [batch, source]: all weights so far
  Tensor coverage_loss;  ///< [batch, steps]
};

/// nn::PointerGenerator in two halves: it looks, the model makes its logits from what was seen,
/// and the two are mixed. The weights of coverage begin with 0; until the coverage loss is
/// asked for they stay there, and all steps are one call.
class CopyHead : public nn::Module {
 public:
  CopyHead(std::int64_t dim, Copy copy);

  /// values [batch, source, dim], 0 past the lengths.
  CopySource read(const Tensor& ids, const Tensor& values, const Tensor& lengths) const;

  /// states and inputs [batch, steps, dim]; `covered` of the steps before, or none.
  CopyResult forward(const CopySource& source, const Tensor& states, const Tensor& inputs,
                     const Tensor& covered = {}, const LossOptions& options = {},
                     const nn::AttentionContext& context = {}) const;

 private:
  nn::PointerGenerator pointer_;
  Tensor coverage_weight_;  ///< of the pointer; none without coverage
};

/// log P of every word, logits [batch, steps, vocabulary]:
/// P(w) = g softmax(logits)(w) + (1 - g) sum of the weights where the source has w.
Tensor mixed_log_probabilities(const CopySource& source, const CopyResult& result,
                               const Tensor& logits);

/// The mean of -log P(target) over the counted targets, and of the coverage loss by its weight.
/// P is made at the targets alone. There is no smoothing: a copied word has no rivals to share
/// with.
Tensor copy_loss(const CopySource& source, const CopyResult& result, const Tensor& logits,
                 const Batch& batch, const LossOptions& options);

}  // namespace attn::models
