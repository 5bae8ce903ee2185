#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"

#include <limits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "nn/padding.hpp"

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

Maximum max_pooling(const Tensor& values, const Tensor& valid_lens) {
  if (values.rank() != 3)
    fail("attn::nn::max_pooling: values ", values.text(), "; [batch, items, dim] is accepted");
  if (!valid_lens.defined() && values.size(1) > 0) return max(values, 1);
  if (valid_lens.defined() && (valid_lens.rank() != 1 || valid_lens.size(0) != values.size(0)))
    fail("attn::nn::max_pooling: valid_lens ", valid_lens.text(), " for values ", values.text(),
         "; [batch] is accepted");
  if (values.size(1) == 0) {  // every row is empty
    const Shape shape{values.size(0), values.size(2)};
    return {Tensor::zeros(shape, values.dtype(), values.device()),
            Tensor::full(shape, -1.0, DType::i64).to(values.device())};
  }
  const Tensor keep = padding::first_places(valid_lens, values.size(1), values.device());
  const double nothing = -std::numeric_limits<double>::infinity();
  const Maximum largest = max(keep_where(values, keep.unsqueeze(2), nothing), 1);
  // A row has items when its first place is kept.
  const Tensor some = keep.slice(1, 0, 1);
  return {keep_where(largest.values, some), padding::keep_numbers(largest.indices, some, -1)};
}

}  // namespace attn::nn
