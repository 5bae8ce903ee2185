/// Recipe: which attention — a similarity, modifiers of the score, masks, a normaliser and
/// modifiers of the weight. The kernels of every backend take one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <span>
#include <vector>

#include "attn/kernels/stage.hpp"  // IWYU pragma: export

namespace attn {

/// How a query and a key become a number.
enum class Similarity {
  dot,       ///< scale * q . k
  distance,  ///< -1/2 |(q - k) w|^2, w one number, one for each channel, or absent
  additive,  ///< w . tanh(q + k)
  cosine,    ///< scale * q . k / (|q| |k|); a vector of norm <= 1e-8 scores 0
  sum,       ///< q + k, one channel each
  given,     ///< 0: the scores come from elsewhere, as a bias; q and k have no channels
};

/// A mask expression: a tree of masks under and, or, not.
struct MaskTree {
  enum class Kind { leaf, all_of, any_of, none_of };
  Kind kind = Kind::leaf;
  AnyMask leaf;                    ///< of a leaf
  std::vector<MaskTree> children;  ///< of the others

  static MaskTree of(const AnyMask& mask) { return {Kind::leaf, mask, {}}; }
};

/// Whether an expression, or all of some, keeps a pair, and how much of a block.
bool keeps(const MaskTree& tree, const Site<double>& at);
bool keeps(std::span<const MaskTree> masks, const Site<double>& at);
Cover cover(const MaskTree& tree, const Block& block);
Cover cover(std::span<const MaskTree> masks, const Block& block);

/// The four steps, chosen. The stages' tables must outlive the calls that use the recipe.
struct Recipe {
  Similarity similarity = Similarity::dot;
  float scale = 1.0f;  ///< of dot and cosine
  Table weights;       ///< [1, 1 or kv_heads, 1, channels] of additive; of distance 1 or
                       ///< channels entries, or none
  std::vector<AnyScore> scores;             ///< applied in order
  std::vector<MaskTree> masks;              ///< a pair exists if all of them keep it
  AnyNormaliser normaliser;                 ///< softmax unless chosen
  std::vector<AnyWeight> weight_modifiers;  ///< applied to the weights, in order

  Recipe();
};

}  // namespace attn
