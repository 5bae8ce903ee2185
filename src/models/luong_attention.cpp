#include "models/luong_attention.hpp"

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/steering.hpp"

namespace attn::models {
namespace {

Tensor matrix_if(bool wanted, std::int64_t rows, std::int64_t dim) {
  return wanted ? nn::fan_in_uniform({rows, dim}, dim) : Tensor();
}
Tensor vector_if(bool wanted, std::int64_t dim) {
  return wanted ? nn::fan_in_uniform({dim}, dim) : Tensor();
}

}  // namespace

LuongAttention::LuongAttention(const ModelOptions& options)
    : score_(options.score),
      reach_(options.reach),
      window_(options.window),
      w_a_(add("W_a", matrix_if(score_ == Score::general || score_ == Score::location,
                                score_ == Score::location ? options.max_source : options.dim,
                                options.dim))),
      w_q_(add("W_q", matrix_if(score_ == Score::concat, options.dim, options.dim))),
      w_k_(add("W_k", matrix_if(score_ == Score::concat, options.dim, options.dim))),
      v_a_(add("v_a", vector_if(score_ == Score::concat, options.dim))),
      w_p_(add("W_p", matrix_if(reach_ == Reach::local_predictive, options.dim, options.dim))),
      v_p_(add("v_p", vector_if(reach_ == Reach::local_predictive, options.dim))) {
  if (window_ < 0)
    fail("attn::models::LuongAttention: window ", window_, "; 0 and more are accepted");
}

DecoderSource LuongAttention::read(const Tensor& values, const Tensor& lengths) const {
  switch (score_) {
    case Score::general:
      return {linear(values, w_a_), values, lengths};
    case Score::concat:
      return {linear(values, w_k_), values, lengths};
    case Score::location:
      if (values.size(1) > w_a_.size(0))
        fail("attn::models::LuongAttention: a source of ", values.size(1),
             " places with the location score; at most max_source = ", w_a_.size(0),
             " are accepted");
      return {{}, values, lengths};
    default:
      return {values, values, lengths};
  }
}

spec::Score LuongAttention::scores(const Tensor& h, const DecoderSource& source) const {
  if (score_ == Score::concat) return spec::additive(v_a_);
  if (score_ == Score::location)
    return spec::given(linear(h, w_a_.slice(0, 0, source.values.size(1))));
  return spec::dot();
}

Tensor LuongAttention::centre(const Tensor& h, const DecoderSource& source) const {
  const Tensor length = source.lengths.to(h.device()).to(h.dtype()).unsqueeze(1);
  return length * sigmoid(linear(tanh(linear(h, w_p_)), v_p_.unsqueeze(0)).squeeze(-1));
}

Attended LuongAttention::look(const Tensor& h, const DecoderSource& source, std::int64_t first,
                              const Steering& steering) const {
  Keep keep = spec::lengths(source.lengths) && steering.keep;
  auto normaliser = spec::softmax();
  if (reach_ == Reach::local_monotonic) keep = keep && spec::window(window_, window_, first);
  if (reach_ == Reach::local_predictive) {
    const Tensor p = centre(h, source);
    const auto reach = static_cast<double>(window_);
    keep = keep && spec::around(p, reach);
    // A window of one place has nothing to fade.
    if (window_ > 0) normaliser = normaliser | spec::local_gaussian(p, reach / 2);
  }
  const Tensor q = score_ == Score::location ? Tensor()
                   : score_ == Score::concat ? linear(h, w_q_)
                                             : h;
  return attend(q, source.keys, source.values, steering.of(scores(h, source)), keep, normaliser,
                Want::output | Want::weights);
}

}  // namespace attn::models
