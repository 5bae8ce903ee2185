/// Convolutions as modules.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"  // IWYU pragma: export
#include "attn/tensor/ops/conv.hpp"
#include "attn/tensor/tensor.hpp"  // IWYU pragma: export

namespace attn::nn {

struct ConvOptions {
  std::int64_t in;
  std::int64_t out;
  std::int64_t kernel;  ///< on every axis
  Bias bias = Bias::learnt;
};

class Conv1d : public Module {
 public:
  explicit Conv1d(const ConvOptions& options, const Conv1dOptions& steps = {});

  Tensor operator()(const Tensor& x) const;  ///< [batch, in, length]

  const Tensor& weight() const { return weight_; }  ///< [out, in, kernel]
  const Tensor& bias() const { return bias_; }

 private:
  Conv1dOptions steps_;
  Tensor weight_;
  Tensor bias_;
};

class Conv2d : public Module {
 public:
  explicit Conv2d(const ConvOptions& options, const Conv2dOptions& steps = {});

  Tensor operator()(const Tensor& x) const;  ///< [batch, in, height, width]

 private:
  Conv2dOptions steps_;
  Tensor weight_;  ///< [out, in, kernel, kernel]
  Tensor bias_;
};

}  // namespace attn::nn
