#include "attn/nn/mechanisms/control/kv_cache_equivalence.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/attention/kv_cache.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"

namespace attn::nn {
namespace {

void validate(const Tensor& q, const Tensor& k, const std::vector<std::int64_t>& chunks) {
  if (q.rank() != 4 || k.rank() != 4 || k.size(2) < q.size(2))
    fail("attn::nn::attend_in_chunks: queries ", q.text(), " and keys ", k.text(),
         "; [batch, heads, positions, channels] with as many keys or more are accepted");
  const auto total = std::accumulate(chunks.begin(), chunks.end(), std::int64_t{0});
  if (!chunks.empty() && total != q.size(2))
    fail("attn::nn::attend_in_chunks: chunks of ", total, " positions in all; ", q.size(2),
         ", the queries, are accepted");
}

/// x [batch, kv_heads, ...], the kv head h * kv_heads / heads for each h.
Tensor one_for_each_head(const Tensor& x, std::int64_t heads) {
  std::vector<std::int64_t> read(static_cast<std::size_t>(heads));
  for (std::int64_t head = 0; head < heads; ++head)
    read[static_cast<std::size_t>(head)] = head * x.size(1) / heads;
  return index_select(x, 1, Tensor::from(read, {heads}));
}

}  // namespace

Attended attend_in_chunks(const Tensor& q, const Tensor& k, const Tensor& v,
                          const std::vector<std::int64_t>& chunks) {
  validate(q, k, chunks);
  const std::int64_t heads = q.size(1);
  // Kernels share a kv head among as many heads each.
  if (k.size(1) > 0 && heads % k.size(1) != 0)
    return attend_in_chunks(q, one_for_each_head(k, heads), one_for_each_head(v, heads),
                            chunks);
  const Want want = Want::output | Want::log_sum_exp;
  if (chunks.empty())
    return attend(q, k, v, spec::scaled_dot(), spec::causal(), spec::softmax(), want);

  const std::int64_t before = k.size(2) - q.size(2);
  KvCache cache(k.size(2));
  if (before > 0) cache.append(k.slice(2, 0, before), v.slice(2, 0, before));
  std::vector<Tensor> outputs;
  std::vector<Tensor> sums;
  for (const std::int64_t chunk : chunks) {
    const std::int64_t at = cache.length();
    const Attended looked =
        cache.attend_next(q.slice(2, at - before, at - before + chunk),
                          k.slice(2, at, at + chunk), v.slice(2, at, at + chunk), want);
    outputs.push_back(looked.output);
    sums.push_back(looked.log_sum_exp);
  }
  Attended all;
  all.output = concat(outputs, 2);
  all.log_sum_exp = concat(sums, 2);
  return all;
}

}  // namespace attn::nn
