// The mean of the valid values: attention with equal scores.

#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

Attended average_pooling(const Tensor& values, const Tensor& valid_lens, const Want& want) {
  if (values.rank() != 3)
    fail("attn::nn::average_pooling: values ", values.text(),
         "; [batch, items, dim] is accepted");
  if (valid_lens.defined() && valid_lens.rank() != 1)
    fail("attn::nn::average_pooling: valid_lens ", valid_lens.text(), "; [batch] is accepted");
  const Keep keep = valid_lens.defined() ? spec::lengths(valid_lens) : Keep{};
  // One query that scores everything 1; the mean divides by what is kept.
  const Tensor ones =
      Tensor::full({values.size(0), 1, values.size(1)}, 1.0, values.dtype(), values.device());
  Attended pooled = attend({}, {}, values, spec::given(ones), keep, spec::mean(), want);
  if (pooled.output.defined()) pooled.output = pooled.output.squeeze(1);
  if (pooled.weights.defined()) pooled.weights = pooled.weights.squeeze(1);
  return pooled;
}

}  // namespace attn::nn
