#include "attn/nn/mechanisms/applied/entailment_word_by_word.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// x [batch, steps, dim], 0 past the lengths, at the last valid step: [batch, dim].
Tensor last_valid(const Tensor& x, const Tensor& lengths) {
  const std::int64_t batch = x.size(0);
  std::vector<std::int64_t> last =
      padding::or_full(lengths, batch, x.size(1)).to_vector<std::int64_t>();
  for (std::int64_t& place : last) place = std::max<std::int64_t>(place - 1, 0);
  const Tensor index =
      Tensor::from(last, {batch, 1, 1}).to(x.device()).expand({batch, 1, x.size(2)});
  return gather(x, 1, index).squeeze(1);
}

}  // namespace

WordByWordAttention::WordByWordAttention(std::int64_t dim)
    : w_y_(add("W_y", without_bias(dim, dim))),
      w_h_(add("W_h", without_bias(dim, dim))),
      w_r_(add("W_r", without_bias(dim, dim))),
      w_t_(add("W_t", without_bias(dim, dim))),
      w_p_(add("W_p", without_bias(dim, dim))),
      w_x_(add("W_x", without_bias(dim, dim))),
      w_(add("w", fan_in_uniform({dim}, dim))) {}

Entailed WordByWordAttention::forward(const Tensor& premise, const Tensor& hypothesis,
                                      const Tensor& premise_lens,
                                      const Tensor& hypothesis_lens) const {
  if (premise.rank() != 3 || hypothesis.rank() != 3)
    fail("attn::nn::WordByWordAttention: premise ", premise.text(), " and hypothesis ",
         hypothesis.text(), "; [batch, words, dim] is accepted");
  const Tensor values = padding::zero_past(premise, premise_lens);
  const Tensor words = padding::zero_past(hypothesis, hypothesis_lens);
  const Tensor keys = w_y_(values);
  const Tensor queries = w_h_(words);
  const Mask keep = padding::keys(premise_lens);
  Tensor carried =
      Tensor::zeros({premise.size(0), 1, premise.size(2)}, premise.dtype(), premise.device());
  std::vector<Tensor> weights;
  std::vector<Tensor> states;
  for (std::int64_t t = 0; t < words.size(1); ++t) {
    const Attended looked =
        attend(queries.slice(1, t, t + 1) + w_r_(carried), keys, values, spec::additive(w_),
               keep, spec::softmax(), Want::output | Want::weights);
    carried = looked.output + tanh(w_t_(carried));
    weights.push_back(looked.weights);
    states.push_back(carried);
  }
  const Tensor r = padding::zero_past(concat(states, 1), hypothesis_lens);
  const Tensor seen = last_valid(r, hypothesis_lens);
  const Tensor last = last_valid(words, hypothesis_lens);
  return {padding::zero_past(concat(weights, 1), hypothesis_lens), r,
          tanh(w_p_(seen) + w_x_(last))};
}

}  // namespace attn::nn
