#include "attn/tensor/ops/loss.hpp"

#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn {

Tensor mean_squared_error(const Tensor& a, const Tensor& b) {
  op::require_real(a, "attn::mean_squared_error", "a");
  op::require_real(b, "attn::mean_squared_error", "b");
  op::require_shape(b, a.shape(), "attn::mean_squared_error", "b");
  return mean(square(a - b));
}

}  // namespace attn
