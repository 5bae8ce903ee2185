#include "attn/nn/mechanisms/control/forced_attention.hpp"

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
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

}  // namespace

Attended forced_attention(const Tensor& scores, const Tensor& values, const Steering& steering,
                          const Keep& keep, const Want& want) {
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

  const Keep set = spec::dense(steering.forced_mask);
  const Attended forced = attend({}, {}, values, spec::given(steering.forced_weight.detach()),
                                 keep && set, spec::identity(), want | Want::weights);
  const Tensor rest = rest_of(forced.weights.detach());
  Attended both = attend({}, {}, values, score, keep && !set,
                         spec::softmax() | spec::scale_weight(rest), want);
  if (want.has(Want::output)) both.output = both.output + forced.output;
  if (want.has(Want::weights)) both.weights = both.weights + forced.weights;
  return both;
}

}  // namespace attn::nn
