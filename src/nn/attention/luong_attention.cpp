#include "attn/nn/attention/luong_attention.hpp"

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

constexpr const char* kWhere = "attn::nn::LuongAttention: ";

LuongAttentionOptions checked(LuongAttentionOptions options) {
  if (options.window < 0) fail(kWhere, "window ", options.window, "; 0 and more are accepted");
  if (options.score == LuongScore::general && (options.query_dim < 1 || options.key_dim < 1))
    fail(kWhere, "the general score with query_dim ", options.query_dim, " and key_dim ",
         options.key_dim, "; both at least 1 are accepted");
  if (options.hidden_dim == 0) options.hidden_dim = options.query_dim;
  if (options.predictor_dim == 0) options.predictor_dim = options.query_dim;
  return options;
}

Tensor matrix_if(bool wanted, std::int64_t rows, std::int64_t columns) {
  return wanted ? fan_in_uniform({rows, columns}, columns) : Tensor();
}
Tensor vector_if(bool wanted, std::int64_t dim) {
  return wanted ? fan_in_uniform({dim}, dim) : Tensor();
}

Tensor first_matrix(const LuongAttentionOptions& options) {
  switch (options.score) {
    case LuongScore::general:
      return matrix_if(true, options.query_dim, options.key_dim);
    case LuongScore::location:
      return matrix_if(true, options.max_keys, options.query_dim);
    case LuongScore::concat:
      return matrix_if(options.names.query_matrix == nullptr, options.hidden_dim,
                       options.query_dim + options.key_dim);
    case LuongScore::dot:
      break;
  }
  return {};
}

bool concat_apart(const LuongAttentionOptions& options) {
  return options.score == LuongScore::concat && options.names.query_matrix;
}

}  // namespace

LuongAttention::LuongAttention(const LuongAttentionOptions& options)
    : options_(checked(options)) {
  const auto& [matrix, query_matrix, key_matrix, predictor] = options_.names;
  const bool predicts = options_.locality == Locality::predictive;
  w_a_ = add(matrix, first_matrix(options_));
  if (concat_apart(options_)) {
    w_q_ = add(query_matrix, matrix_if(true, options_.hidden_dim, options_.query_dim));
    w_k_ = add(key_matrix, matrix_if(true, options_.hidden_dim, options_.key_dim));
  }
  v_a_ = add("v_a", vector_if(options_.score == LuongScore::concat, options_.hidden_dim));
  w_p_ = add(predictor, matrix_if(predicts, options_.predictor_dim, options_.query_dim));
  v_p_ = add("v_p", vector_if(predicts, options_.predictor_dim));
}

Tensor LuongAttention::query_weight() const {
  if (options_.score != LuongScore::concat || w_q_.defined()) return w_q_;
  return w_a_.slice(1, 0, options_.query_dim);
}

Tensor LuongAttention::key_weight() const {
  if (options_.score != LuongScore::concat) return w_a_;
  return w_k_.defined() ? w_k_ : w_a_.slice(1, options_.query_dim, w_a_.size(1));
}

DecoderSource LuongAttention::read(const Tensor& keys, const Tensor& values,
                                   const Tensor& lengths) const {
  if (options_.score == LuongScore::dot) return {keys, values, lengths};
  if (options_.score != LuongScore::location)
    return {linear(keys, key_weight()), values, lengths};
  if (values.rank() != 3 || values.size(1) > options_.max_keys)
    fail(kWhere, "values ", values.text(), " with the location score; [batch, keys, dim] with ",
         "at most ", options_.max_keys, " keys is accepted");
  return {{}, values, lengths};
}

Tensor LuongAttention::location_scores(const Tensor& h, const DecoderSource& source) const {
  return linear(h, w_a_.slice(0, 0, source.values.size(1)));
}

Tensor LuongAttention::centre(const Tensor& h, const DecoderSource& source,
                              std::int64_t first) const {
  if (options_.locality != Locality::predictive) {
    const DType real = h.dtype() == DType::f64 ? DType::f64 : DType::f32;
    return (Tensor::arange(h.size(1), real, h.device()) + static_cast<double>(first))
        .unsqueeze(0);
  }
  const Tensor lengths =
      padding::or_full(source.lengths, source.values.size(0), source.values.size(1));
  return lengths.to(h.device()).to(h.dtype()).unsqueeze(1) *
         sigmoid(linear(tanh(linear(h, w_p_)), v_p_.unsqueeze(0)).squeeze(-1));
}

Mask LuongAttention::keep(const Tensor& h, const DecoderSource& source,
                          std::int64_t first) const {
  Mask within = padding::keys(source.lengths);
  const std::int64_t window = options_.window;
  switch (options_.locality) {
    case Locality::monotonic:
      return within && spec::window(window, window, first);
    case Locality::predictive:
      return within && spec::around(centre(h, source, first), static_cast<double>(window));
    case Locality::global:
      break;
  }
  return within;
}

Attended LuongAttention::forward(const Tensor& h, const DecoderSource& source,
                                 std::int64_t first, const AttentionContext& context) const {
  spec::Normaliser normaliser = spec::softmax();
  // A window of one position has nothing to fade.
  if (fades())
    normaliser = normaliser | spec::local_gaussian(centre(h, source, first),
                                                   static_cast<double>(options_.window) / 2);
  const bool concat = options_.score == LuongScore::concat;
  const bool location = options_.score == LuongScore::location;
  spec::Score score = location ? spec::given(location_scores(h, source))
                      : concat ? spec::additive(v_a_)
                               : spec::dot();
  if (context.temperature != 1.0) score = score | spec::scale(1.0 / context.temperature);
  const Tensor q = location ? Tensor() : concat ? linear(h, query_weight()) : h;
  return attend(q, source.keys, source.values, score, keep(h, source, first) && context.keep,
                normaliser, context.want);
}

}  // namespace attn::nn
