#include "attn/nn/mechanisms/pointer/biaffine_attention.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// The rows of x [batch, places, dim] at `places` i64 [batch, count].
Tensor rows_at(const Tensor& x, const Tensor& places) {
  return gather(x, 1, places.unsqueeze(-1).expand({places.size(0), places.size(1), x.size(2)}));
}

struct Places {
  Tensor at;     ///< i64 [batch, dependents], 0 where none is named
  Tensor named;  ///< boolean
};

/// Places that are checked, on the device of the heads.
Places check_places(const Tensor& places, const Tensor& dependents, const Tensor& heads,
                    std::int64_t least, const char* where) {
  const Shape shape{dependents.size(0), dependents.size(1)};
  if (!(places.shape() == shape) || places.dtype() != DType::i64)
    fail(where, ": places are ", places.text(), "; i64[", shape[0], ", ", shape[1],
         "] is accepted");
  std::vector<std::int64_t> numbers = places.to_vector<std::int64_t>();
  const Tensor named = Tensor::empty(shape, DType::boolean);
  bool* flag = named.mutable_data<bool>();
  for (std::int64_t& place : numbers) {
    if (place < least || place >= heads.size(1))
      fail(where, ": place ", place, "; ", least, " to ", heads.size(1) - 1, " are accepted");
    *flag++ = place >= 0;
    place = std::max<std::int64_t>(0, place);
  }
  return {Tensor::from(numbers, shape).to(heads.device()), named.to(heads.device())};
}

}  // namespace

BiaffineAttention::BiaffineAttention(const BiaffineOptions& options)
    : activation_(options.activation),
      dependent_(add("dependent", Linear({options.dependent_dim, options.hidden}))),
      head_(add("head", Linear({options.head_dim, options.hidden}))),
      dropout_(add("dropout", Dropout(options.dropout))),
      product_(add("U", glorot_uniform({options.hidden, options.hidden}))),
      linear_(add("u", fan_in_uniform({2 * options.hidden}, 2 * options.hidden))),
      bias_(add("b", Tensor::zeros({1}))) {}

Biaffine BiaffineAttention::forward(const Tensor& dependents, const Tensor& heads,
                                    const HeadReach& reach, const Tensor& targets) const {
  constexpr const char* kWhere = "attn::nn::BiaffineAttention";
  if (dependents.rank() != 3 || heads.rank() != 3)
    fail(kWhere, ": dependents ", dependents.text(), ", heads ", heads.text(),
         "; [batch, places, dim] twice is accepted");
  const std::int64_t hidden = product_.size(0);
  const Tensor d = dropout_(activate(dependent_(dependents), activation_));
  const Tensor h =
      dropout_(activate(head_(padding::zero_past(heads, reach.lengths)), activation_));
  // The rows of U stand for heads: U d_i + u_h meets each of them.
  const Tensor queries = linear(d, product_, linear_.slice(0, 0, hidden));
  const Tensor bias = linear(d, linear_.slice(0, hidden, 2 * hidden).unsqueeze(0), bias_);

  const Attended looked = attend(queries, h, {}, spec::dot() | spec::bias(bias),
                                 padding::keys(reach.lengths) && reach.keep, spec::softmax(),
                                 Want::weights | Want::log_sum_exp);
  if (!targets.defined()) return {looked.weights, looked.log_sum_exp, {}};

  const Places places = check_places(targets, dependents, heads, -1, kWhere);
  const Tensor can = padding::is_score(looked.log_sum_exp);
  const Tensor score = sum(queries * rows_at(h, places.at), -1) + bias.squeeze(-1);
  // Where nothing is in reach the log of the sum is -inf, and nothing may be computed with it.
  const Tensor log_prob = score - keep_where(looked.log_sum_exp, can);
  return {looked.weights, looked.log_sum_exp,
          keep_where(log_prob, logical_and(places.named, can))};
}

BiaffineLabels::BiaffineLabels(const BiaffineLabelOptions& options)
    : hidden_(options.hidden),
      labels_(options.labels),
      activation_(options.activation),
      dependent_(add("dependent", Linear({options.dependent_dim, options.hidden}))),
      head_(add("head", Linear({options.head_dim, options.hidden}))),
      dropout_(add("dropout", Dropout(options.dropout))),
      product_(add("U", without_bias(options.hidden, options.labels * options.hidden))),
      head_logits_(add("u_head", without_bias(options.hidden, options.labels))),
      dependent_logits_(add("u_dependent", Linear({options.hidden, options.labels}))) {}

Tensor BiaffineLabels::forward(const Tensor& dependents, const Tensor& heads,
                               const Tensor& chosen) const {
  const Places places = check_places(chosen, dependents, heads, 0, "attn::nn::BiaffineLabels");
  const Tensor d = dropout_(activate(dependent_(dependents), activation_));
  const Tensor h = dropout_(activate(head_(rows_at(heads, places.at)), activation_));
  // U_l d_i of every label at once, then h_i^T of each.
  const Tensor products = product_(d).reshape({d.size(0), d.size(1), labels_, hidden_});
  return sum(products * h.unsqueeze(2), -1) + head_logits_(h) + dependent_logits_(d);
}

}  // namespace attn::nn
