// Attention set by hand, in chunks, and in two parts that are merged.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/mechanisms/control/forced_attention.hpp"
#include "attn/nn/mechanisms/control/kv_cache_equivalence.hpp"
#include "attn/nn/mechanisms/control/merge_states.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/merge.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"

namespace attn::nn {
namespace {

/// What is left of each row, [batch, queries].
Tensor rest_of(const Tensor& forced) {
  // Shares such as ten times 0.1 round a little past 1.
  constexpr double kRounding = 1e-5;
  const Tensor total = sum(forced, -1);
  const auto sums = total.to(DType::f64).to_vector<double>();
  for (std::int64_t row = 0; row < total.numel(); ++row)
    if (sums[row] > 1.0 + kRounding)
      fail("attn::nn::forced_attention: forced weights of row ", row, " sum to ", sums[row],
           "; at most 1 is accepted");
  return clamp(1.0 - total, 0.0, 1.0);
}

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

Attended forced_attention(const Tensor& scores, const Tensor& values, const Steering& steering,
                          const Mask& keep, const Want& want) {
  if (steering.forced_mask.defined() != steering.forced_weight.defined())
    fail("attn::nn::forced_attention: forced_mask ",
         steering.forced_mask.defined() ? "without" : "missing beside",
         " forced_weight; both or neither are accepted");
  if (!(Want::output | Want::weights).has(want))
    fail("attn::nn::forced_attention: output and weights are all that can be wanted");
  spec::Score score = spec::given(scores);
  if (steering.prior.defined())
    score = score | spec::prior(steering.prior, steering.prior_weight);
  if (!steering.forced_mask.defined())
    return attend({}, {}, values, score, keep, spec::softmax(), want);

  const Mask set = spec::dense(steering.forced_mask);
  const Attended forced = attend({}, {}, values, spec::given(steering.forced_weight.detach()),
                                 keep && set, spec::identity(), want | Want::weights);
  const Tensor rest = rest_of(forced.weights.detach());
  Attended both = attend({}, {}, values, score, keep && !set,
                         spec::softmax() | spec::scale_weight(rest), want);
  if (want.has(Want::output)) both.output = both.output + forced.output;
  if (want.has(Want::weights)) both.weights = both.weights + forced.weights;
  return both;
}

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

SplitAttended split_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                              std::int64_t split, SplitMask mask) {
  if (q.rank() != 4 || k.rank() != 4)
    fail("attn::nn::split_attention: queries ", q.text(), " and keys ", k.text(),
         "; [batch, heads, positions, channels] is accepted");
  const std::int64_t keys = k.size(2);
  if (split < 0 || split > keys)
    fail("attn::nn::split_attention: split at ", split, " of ", keys, " keys; 0 to ", keys,
         " are accepted");
  const std::int64_t offset = keys - q.size(2);
  const auto part = [&](std::int64_t begin, std::int64_t end) -> PartialAttention {
    const Mask keep = mask == SplitMask::causal ? spec::causal(offset - begin) : Mask{};
    const Attended looked =
        attend(q, k.slice(2, begin, end), v.slice(2, begin, end), spec::scaled_dot(), keep,
               spec::softmax(), Want::output | Want::log_sum_exp);
    return {looked.output, looked.log_sum_exp};
  };
  const PartialAttention a = part(0, split);
  const PartialAttention b = part(split, keys);
  return {a, b, merge_states(a, b)};
}

}  // namespace attn::nn
