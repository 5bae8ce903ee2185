#include "nn/padding.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/spec/mask.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn::padding {

Tensor zero_past(const Tensor& x, const Tensor& lengths) {
  if (!lengths.defined()) return x;
  Tensor mask = first_places(lengths, x.size(1), x.device());
  while (mask.rank() < x.rank()) mask = mask.unsqueeze(mask.rank());
  return keep_where(x, mask);
}

Tensor zero_ids_past(const Tensor& ids, const Tensor& lengths) {
  if (!lengths.defined()) return ids;
  const Tensor mask = first_places(lengths, ids.size(-1), ids.device());
  if (!(mask.shape() == ids.shape()))
    fail("attn::nn: lengths ", lengths.text(), " beside ids ", ids.text(),
         "; one length for each row is accepted");
  return keep_numbers(ids, mask, 0);
}

Tensor first_places(const Tensor& lengths, std::int64_t extent, Device device) {
  return length_mask(lengths, extent).to(device);
}

Tensor keep_numbers(const Tensor& numbers, const Tensor& keep, std::int64_t otherwise) {
  // Doubles hold every number that can be a place or an id.
  const NoGrad off_the_tape;
  return keep_where(numbers.to(DType::f64), keep, static_cast<double>(otherwise))
      .to(DType::i64);
}

Tensor is_score(const Tensor& x) {
  // -inf becomes the lowest number, and the sum 0 for it alone.
  constexpr double kMost = std::numeric_limits<double>::max();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const NoGrad off_the_tape;
  return affine(clamp(x.detach().to(DType::f64), -kMost, kInfinite), 1.0, kMost)
      .to(DType::boolean);
}

Tensor or_full(const Tensor& lengths, std::int64_t batch, std::int64_t extent) {
  if (lengths.defined()) return lengths;
  return Tensor::full({batch}, static_cast<double>(extent), DType::i64);
}

spec::Mask pairs(const Tensor& query_lengths, const Tensor& key_lengths, std::int64_t queries,
                 std::int64_t keys) {
  if (!query_lengths.defined())
    return key_lengths.defined() ? spec::lengths(key_lengths) : spec::Mask{};
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

spec::Mask keys(const Tensor& lengths) {
  return lengths.defined() ? spec::lengths(lengths) : spec::Mask{};
}

}  // namespace attn::nn::padding
