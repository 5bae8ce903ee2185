#include "models/luong_attention.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/head_row.hpp"
#include "models/step_steering.hpp"

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

Keep LuongAttention::reach(const Tensor& h, const DecoderSource& source,
                           std::int64_t first) const {
  Keep keep = spec::lengths(source.lengths);
  if (reach_ == Reach::local_monotonic) return keep && spec::window(window_, window_, first);
  if (reach_ == Reach::local_predictive)
    return keep && spec::around(centre(h, source), static_cast<double>(window_));
  return keep;
}

Attended LuongAttention::forward(const Tensor& h, const DecoderSource& source,
                                 std::int64_t first, const StepSteering& steering) const {
  const Keep keep = reach(h, source, first) && steering.keep;
  auto normaliser = spec::softmax();
  // A window of one place has nothing to fade.
  if (reach_ == Reach::local_predictive && window_ > 0)
    normaliser =
        normaliser | spec::local_gaussian(centre(h, source), static_cast<double>(window_) / 2);
  const Tensor q = score_ == Score::location ? Tensor()
                   : score_ == Score::concat ? linear(h, w_q_)
                                             : h;
  return attend(q, source.keys, source.values, steering.of(scores(h, source)), keep, normaliser,
                Want::output | Want::weights);
}

HeadRow LuongAttention::row(const Tensor& h, const DecoderSource& source, std::int64_t first,
                            const StepSteering& steering) const {
  const auto only = [](const Tensor& x) { return on_cpu(x.select(0, 0)); };
  const double scale = 1.0 / steering.temperature;
  const std::int64_t keys = source.values.size(1);
  const Attended looked = forward(h, source, first, steering);
  HeadRow made;
  if (score_ == Score::location) {
    made.scores = only(linear(h, w_a_.slice(0, 0, keys)).select(0, 0)).to(DType::f64) * scale;
  } else if (score_ == Score::concat) {
    made.scores = additive_scores(only(linear(h, w_q_).select(0, 0)), only(source.keys),
                                  on_cpu(v_a_), scale);
  } else {
    made.query = only(h.select(0, 0));
    made.keys = only(source.keys);
    made.scale = scale;
    made.scores = product_scores(made.query, made.keys, scale);
  }
  made.open =
      open_keys(reach(h, source, first) && steering.keep, {1, 1, 1, keys}, {}, 0, h.device());
  if (reach_ == Reach::local_predictive && window_ > 0) {
    const double p = centre(h, source).item();
    const double sigma = static_cast<double>(window_) / 2;
    std::vector<double> factors;
    for (std::int64_t j = 0; j < keys; ++j) {
      const double away = (static_cast<double>(j) - p) / sigma;
      factors.push_back(std::exp(-0.5 * away * away));
    }
    made.factors = Tensor::from(factors, {keys});
  }
  made.weights = only(looked.weights.select(0, 0));
  made.values = only(source.values);
  made.output = only(looked.output.select(0, 0));
  return made;
}

}  // namespace attn::models
