#include "attn/nn/mechanisms/vision/text_score.hpp"

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/spec/score.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

TextScored::TextScored(const TextScoreOptions& options) : kind_(options.kind) {
  if (kind_ == TextScoreKind::general) {
    w_a_ = add("W_a.weight",
               fan_in_uniform({options.text_dim, options.image_dim}, options.image_dim));
    return;
  }
  const auto hidden = options.hidden_dim;
  if (hidden < 1)
    fail("attn::nn::TextScored: hidden_dim ", hidden,
         " of the additive score; at least 1 is accepted");
  w_v_ = add("W_v.weight", fan_in_uniform({hidden, options.image_dim}, options.image_dim));
  w_t_ = add("W_t.weight", fan_in_uniform({hidden, options.text_dim}, options.text_dim));
  b_t_ = add("W_t.bias", fan_in_uniform({hidden}, options.text_dim));
  w_ = add("w", fan_in_uniform({hidden}, hidden));
}

Tensor TextScored::queries(const Tensor& text) const {
  // The text is projected, not the parts: there is one of it and many of them.
  return kind_ == TextScoreKind::general ? matmul(text, w_a_) : linear(text, w_t_, b_t_);
}

Tensor TextScored::keys(const Tensor& parts) const {
  return kind_ == TextScoreKind::general ? parts : linear(parts, w_v_);
}

spec::Score TextScored::score() const {
  return kind_ == TextScoreKind::general ? spec::dot() : spec::additive(w_);
}

}  // namespace attn::nn
