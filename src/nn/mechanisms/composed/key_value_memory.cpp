#include "attn/nn/mechanisms/composed/key_value_memory.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {

KeyValueMemory::KeyValueMemory(const KeyValueMemoryOptions& options)
    : a_(add("A", without_bias(options.features, options.dim))) {
  if (options.hops < 1)
    fail("attn::nn::KeyValueMemory: ", options.hops, " hops; at least 1 is accepted");
  for (std::int64_t hop = 0; hop < options.hops; ++hop)
    r_.push_back(add("R." + std::to_string(hop), without_bias(options.dim, options.dim)));
  if (options.answers == AnswerMatrix::own)
    b_ = add("B", without_bias(options.features, options.dim));
}

KeyValueMemoryResult KeyValueMemory::forward(const Tensor& query, const Tensor& keys,
                                             const Tensor& values, const Tensor& candidates,
                                             const Tensor& lengths) const {
  if (query.rank() != 2 || candidates.rank() != 2)
    fail("attn::nn::KeyValueMemory: query ", query.text(), " and candidates ",
         candidates.text(), "; [batch, features] and [candidates, features] are accepted");
  const Tensor k = a_(padding::zero_past(keys, lengths));
  const Tensor v = a_(padding::zero_past(values, lengths));
  Tensor q = a_(query);
  std::vector<Tensor> weights;
  for (const Linear& r : r_) {
    const Attended looked = attend(q.unsqueeze(1), k, v, spec::dot(), padding::keys(lengths),
                                   spec::softmax(), Want::output | Want::weights);
    q = r(q + looked.output.squeeze(1));
    weights.push_back(looked.weights);
  }
  const Linear& answers = b_ ? *b_ : a_;
  return {concat(weights, 1), q, linear(q, answers(candidates))};
}

}  // namespace attn::nn
