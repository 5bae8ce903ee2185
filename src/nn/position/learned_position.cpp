#include "attn/nn/position/learned_position.hpp"

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

LearnedPosition::LearnedPosition(const LearnedPositionOptions& options)
    : p_(add("P", Embedding({.rows = options.max_positions, .features = options.dim}))) {}

Tensor LearnedPosition::operator()(const Tensor& x, std::int64_t offset) const {
  const Tensor& table = p_.weight();
  if (x.rank() < 2 || x.size(-1) != table.size(1))
    fail("attn::nn::LearnedPosition: x ", x.text(), "; [batch, positions, ", table.size(1),
         "] is accepted");
  const std::int64_t end = offset + x.size(-2);
  if (offset < 0 || end > table.size(0))
    fail("attn::nn::LearnedPosition: positions ", offset, " to ", end, "; 0 to ", table.size(0),
         " are accepted");
  return x + table.slice(0, offset, end);
}

}  // namespace attn::nn
