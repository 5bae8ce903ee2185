// Luong's local attentions, with the lengths of their sources.

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/nn/mechanisms/local/local_monotonic.hpp"
#include "attn/nn/mechanisms/local/local_predictive.hpp"
#include "attn/tensor/attend.hpp"
#include "nn/padding.hpp"

namespace attn::nn {

LocalMonotonicAttention::LocalMonotonicAttention(const LocalMonotonicOptions& options)
    : LuongAttention({.query_dim = options.score.query_dim,
                      .key_dim = options.score.key_dim,
                      .score = options.score.score,
                      .locality = Locality::monotonic,
                      .window = options.window,
                      .fade = options.fade}),
      offset_(options.offset) {}

Attended LocalMonotonicAttention::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const Tensor& lengths, const Want& want) const {
  return LuongAttention::forward(q, read(padding::zero_past(k, lengths), v, lengths), offset_,
                                 {.want = want});
}

LocalPredictiveAttention::LocalPredictiveAttention(const LocalPredictiveOptions& options)
    : LuongAttention({.query_dim = options.query_dim,
                      .key_dim = options.score.key_dim,
                      .score = options.score.score,
                      .locality = Locality::predictive,
                      .window = options.window,
                      .fade = options.fade,
                      .predictor_dim = options.hidden_dim}) {}

LocalPredicted LocalPredictiveAttention::forward(const Tensor& q, const Tensor& k,
                                                 const Tensor& v, const Tensor& lengths,
                                                 const Want& want) const {
  const DecoderSource source = read(padding::zero_past(k, lengths), v, lengths);
  return {centre(q, source, 0), LuongAttention::forward(q, source, 0, {.want = want})};
}

}  // namespace attn::nn
