#include "nn/padding.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/spec/keep.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn::nn::padding {

Tensor zero_past(const Tensor& x, const Tensor& lengths) {
  if (!lengths.defined()) return x;
  Tensor mask = length_mask(lengths, x.size(1)).to(x.device());
  while (mask.rank() < x.rank()) mask = mask.unsqueeze(mask.rank());
  return keep_where(x, mask);
}

Tensor zero_ids_past(const Tensor& ids, const Tensor& lengths) {
  if (!lengths.defined()) return ids;
  op::require_cpu(ids, "attn::nn::zero_ids_past");
  const Tensor mask = length_mask(lengths.to(Device::cpu), ids.size(-1));
  if (!(mask.shape() == ids.shape()))
    fail("attn::nn: lengths ", lengths.text(), " beside ids ", ids.text(),
         "; one length for each row is accepted");
  const Tensor result = ids.contiguous().clone();
  auto* numbers = result.mutable_data<std::int64_t>();
  const bool* keep = mask.data<bool>();
  for (std::int64_t i = 0; i < ids.numel(); ++i)
    if (!keep[i]) numbers[i] = 0;
  return result;
}

Tensor or_full(const Tensor& lengths, std::int64_t batch, std::int64_t extent) {
  if (lengths.defined()) return lengths;
  return Tensor::full({batch}, static_cast<double>(extent), DType::i64);
}

spec::Keep pairs(const Tensor& query_lengths, const Tensor& key_lengths, std::int64_t queries,
                 std::int64_t keys) {
  if (!query_lengths.defined())
    return key_lengths.defined() ? spec::lengths(key_lengths) : spec::Keep{};
  const auto rows = query_lengths.to_vector<std::int64_t>();
  const auto batch = static_cast<std::int64_t>(rows.size());
  const auto columns = or_full(key_lengths, batch, keys).to_vector<std::int64_t>();
  if (columns.size() != rows.size())
    fail("attn::nn: ", rows.size(), " lengths of queries and ", columns.size(),
         " of keys; one each for every row is accepted");
  std::vector<std::int64_t> both;
  for (std::size_t b = 0; b < rows.size(); ++b)
    for (std::int64_t i = 0; i < queries; ++i) both.push_back(i < rows[b] ? columns[b] : 0);
  return spec::lengths(Tensor::from(both, {batch, queries}));
}

spec::Keep keys(const Tensor& lengths) {
  return lengths.defined() ? spec::lengths(lengths) : spec::Keep{};
}

}  // namespace attn::nn::padding
