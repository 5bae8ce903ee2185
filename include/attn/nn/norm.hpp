/// RmsNorm, which leaves out the mean and the shift of layer normalisation, and Norm, which is
/// either of the two.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "attn/nn/layer_norm.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// x / sqrt(mean(x^2) + eps) * weight over the last axis. Zhang and Sennrich, 2019,
/// arXiv:1910.07467.
class RmsNorm : public Module {
 public:
  explicit RmsNorm(const LayerNormOptions& options);

  Tensor operator()(const Tensor& x) const;

 private:
  double eps_;
  Tensor weight_;  ///< [features], begins at 1
};

enum class NormKind { layer, rms };

/// Its parameters are called as those of the norm that it is.
class Norm : public Module {
 public:
  Norm(NormKind kind, const LayerNormOptions& options);

  // The constructor made it for these options.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  Tensor operator()(const Tensor& x) const { return layer_ ? (*layer_)(x) : (*rms_)(x); }

 private:
  std::optional<LayerNorm> layer_;
  std::optional<RmsNorm> rms_;
};

}  // namespace attn::nn
