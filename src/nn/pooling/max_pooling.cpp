#include "attn/nn/pooling/max_pooling.hpp"

#include <cstdint>
#include <limits>

#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

/// -1 for the rows that have no item.
Tensor indices_of_rows(const Tensor& indices, const Tensor& lengths) {
  const Tensor marked = indices.clone();
  const Tensor packed = lengths.contiguous();
  const auto* length = packed.data<std::int64_t>();
  for (std::int64_t b = 0; b < marked.size(0); ++b)
    if (length[b] == 0)
      for (std::int64_t d = 0; d < marked.size(1); ++d)
        marked.mutable_data<std::int64_t>()[b * marked.size(1) + d] = -1;
  return marked;
}

}  // namespace

Maximum max_pooling(const Tensor& values, const Tensor& valid_lens) {
  if (values.rank() != 3 || values.size(1) == 0)
    fail("attn::nn::max_pooling: values ", values.text(),
         "; [batch, items, dim] with an item is accepted");
  if (!valid_lens.defined()) return max(values, 1);
  if (valid_lens.rank() != 1 || valid_lens.size(0) != values.size(0))
    fail("attn::nn::max_pooling: valid_lens ", valid_lens.text(), " for values ", values.text(),
         "; [batch] is accepted");
  const Tensor keep = length_mask(valid_lens, values.size(1));
  const double nothing = -std::numeric_limits<double>::infinity();
  const Maximum largest = max(keep_where(values, keep.unsqueeze(2), nothing), 1);
  // A row has items when its first place is kept.
  const Tensor some = keep.slice(1, 0, 1);
  return {keep_where(largest.values, some), indices_of_rows(largest.indices, valid_lens)};
}

}  // namespace attn::nn
