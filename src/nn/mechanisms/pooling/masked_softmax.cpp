#include "attn/nn/mechanisms/pooling/masked_softmax.hpp"

#include "attn/core/error.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"

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

}  // namespace attn::nn
