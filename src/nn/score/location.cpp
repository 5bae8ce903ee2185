#include "attn/nn/score/location.hpp"

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

LocationAttention::LocationAttention(const LocationAttentionOptions& options)
    : w_a_(add(
          "W_a",
          Linear({.in = options.query_dim, .out = options.max_keys, .bias = Bias::none}))) {}

Attended LocationAttention::forward(const Tensor& q, const Tensor& v, const Keep& keep,
                                    const Want& want) const {
  const std::int64_t most = w_a_.weight().size(0);
  if (v.rank() != 3 || v.size(1) > most)
    fail("attn::nn::LocationAttention: values ", v.text(),
         "; [batch, keys, value_dim] with at most ", most, " keys is accepted");
  const Tensor scores = linear(q, w_a_.weight().slice(0, 0, v.size(1)));
  return attend({}, {}, v, spec::given(scores), keep, spec::softmax(), want);
}

}  // namespace attn::nn
