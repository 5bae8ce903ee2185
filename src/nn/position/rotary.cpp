#include "attn/nn/position/rotary.hpp"

#include <cstdint>

#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

Rotated rotate(const Tensor& queries, const Tensor& keys, const Tensor& positions,
               const RotaryOptions& options) {
  return {rotary(queries, positions, options), rotary(keys, positions, options)};
}

Rotated rotate(const Tensor& queries, const Tensor& keys, std::int64_t offset,
               const RotaryOptions& options) {
  return {rotary(queries, offset, options), rotary(keys, offset, options)};
}

}  // namespace attn::nn
