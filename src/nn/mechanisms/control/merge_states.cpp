#include "attn/nn/mechanisms/control/merge_states.hpp"

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/merge.hpp"

namespace attn::nn {

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
    const Keep keep = mask == SplitMask::causal ? spec::causal(offset - begin) : Keep{};
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
