#include "attn/nn/local/local_monotonic.hpp"

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/local/local_options.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/local/score.hpp"
#include "nn/padding.hpp"

namespace attn::nn {

LocalMonotonicAttention::LocalMonotonicAttention(const LocalMonotonicOptions& options)
    : options_(options),
      w_a_(add("W_a.weight",
               local::initial_score(options.score, "attn::nn::LocalMonotonicAttention"))) {
  if (options.reach < 0)
    fail("attn::nn::LocalMonotonicAttention: reach ", options.reach,
         "; 0 and more are accepted");
}

Attended LocalMonotonicAttention::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const Tensor& lengths, const Want& want) const {
  const Keep keep =
      spec::window(options_.reach, options_.reach, options_.offset) && padding::keys(lengths);
  auto normaliser = spec::softmax();
  // A window of one place has nothing to fade.
  if (options_.fade == Fade::gaussian && options_.reach > 0) {
    const DType real = q.dtype() == DType::f64 ? DType::f64 : DType::f32;
    const Tensor centre =
        Tensor::arange(q.size(1), real, q.device()) + static_cast<double>(options_.offset);
    normaliser = normaliser | spec::local_gaussian(centre.unsqueeze(0),
                                                   static_cast<double>(options_.reach) / 2);
  }
  return attend(local::scored_query(q, w_a_), k, v, spec::dot(), keep, normaliser, want);
}

}  // namespace attn::nn
