/// Key-value memory network: facts are found by their keys and read as their values. Miller et
/// al., 2016, arXiv:1606.03126.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <vector>

#include "attn/nn/linear.hpp"

namespace attn::nn {

/// Whether answers are read by the matrix of queries, B = A.
enum class AnswerMatrix { own, tied };

struct KeyValueMemoryOptions {
  std::int64_t features;  ///< F
  std::int64_t dim;
  std::int64_t hops = 1;
  AnswerMatrix answers = AnswerMatrix::own;
};

struct KeyValueMemoryResult {
  Tensor weights;  ///< [batch, hops, memories]
  Tensor q;        ///< [batch, dim]
  Tensor logits;   ///< [batch, candidates]
};

/// q_0 = A x; each hop p = softmax(q . A k_i), q = R_h (q + sum of p_i A v_i); logits = q . B
/// y.
class KeyValueMemory : public Module {
 public:
  explicit KeyValueMemory(const KeyValueMemoryOptions& options);

  /// query [batch, features], keys and values [batch, memories, features], candidates
  /// [candidates, features], lengths i64 [batch] or none.
  KeyValueMemoryResult forward(const Tensor& query, const Tensor& keys, const Tensor& values,
                               const Tensor& candidates, const Tensor& lengths = {}) const;

 private:
  Linear a_;
  std::vector<Linear> r_;    ///< "R.0", ...
  std::optional<Linear> b_;  ///< of its own
};

}  // namespace attn::nn
