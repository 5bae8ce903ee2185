/// Embedding: a row of a table for each token.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/module.hpp"      // IWYU pragma: export
#include "attn/tensor/tensor.hpp"  // IWYU pragma: export

namespace attn::nn {

struct EmbeddingOptions {
  std::int64_t rows;
  std::int64_t features;
};

class Embedding : public Module {
 public:
  explicit Embedding(const EmbeddingOptions& options);

  /// ids i64 [...] -> [..., features].
  Tensor operator()(const Tensor& ids) const;

  const Tensor& weight() const { return weight_; }  ///< [rows, features]

 private:
  Tensor weight_;
};

}  // namespace attn::nn
