// Pooling without a learnt score.

#include <limits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/pooling/masked_softmax.hpp"
#include "attn/nn/mechanisms/pooling/output_head.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// Boolean [batch, 1 or queries, keys].
Tensor kept_places(const Tensor& x, const Tensor& lengths) {
  const bool each = lengths.rank() == 2 && lengths.size(1) == x.size(1);
  if ((lengths.rank() != 1 && !each) || lengths.size(0) != x.size(0))
    fail("attn::nn::masked_softmax: valid_lens ", lengths.text(), " for scores ", x.text(),
         "; [batch] and [batch, queries] are accepted");
  const Tensor mask = length_mask(lengths, x.size(2)).to(x.device());
  return each ? mask : mask.unsqueeze(1);
}

}  // namespace

Tensor masked_softmax(const Tensor& x, const Tensor& valid_lens,
                      const MaskedSoftmaxOptions& options) {
  if (x.rank() != 3)
    fail("attn::nn::masked_softmax: scores ", x.text(), "; [batch, queries, keys] is accepted");
  if (!valid_lens.defined()) return softmax(x);
  const Tensor keep = kept_places(x, valid_lens);
  if (options.fill) return softmax(keep_where(x, keep, *options.fill));
  return softmax(x, -1, keep);
}

Attended average_pooling(const Tensor& values, const Tensor& valid_lens, const Want& want) {
  if (values.rank() != 3)
    fail("attn::nn::average_pooling: values ", values.text(),
         "; [batch, items, dim] is accepted");
  if (valid_lens.defined() && valid_lens.rank() != 1)
    fail("attn::nn::average_pooling: valid_lens ", valid_lens.text(), "; [batch] is accepted");
  const Mask keep = valid_lens.defined() ? spec::lengths(valid_lens) : Mask{};
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

OutputHead::OutputHead(const OutputHeadOptions& options)
    : activation_(options.activation),
      w_o_(add("W_o", Linear({.in = options.value_dim, .out = options.out}))) {}

OutputHead::Result OutputHead::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const Mask& keep, const Want& want) const {
  const Attended looked =
      attend(q, k, v, spec::scaled_dot(), keep, spec::softmax(), want | Want::output);
  return {activate(w_o_(looked.output), activation_), looked.output, looked.weights};
}

}  // namespace attn::nn
