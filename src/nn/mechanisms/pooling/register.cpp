// Pooling without a learnt score, as mechanisms.

#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/pooling/masked_softmax.hpp"
#include "attn/nn/mechanisms/pooling/output_head.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

MaskedSoftmaxOptions masked_softmax_options(const Options& options) {
  const std::string value = options.word("mask_value", "");
  if (value.empty()) return {};
  if (value != "-1e6")
    fail("attn::nn::masked_softmax: mask_value '", value, "'; -1e6 is accepted, or none");
  return {.fill = -1e6};
}

Example values_example() {
  return Example().inputs({{"values", {4, 5, 3}}, {"valid_lens", lengths({5, 2, 0, 1})}});
}

MechanismResult run_masked_softmax(const MechanismCall& call) {
  const Tensor weights = masked_softmax(call.need("x"), call.in("valid_lens"),
                                        masked_softmax_options(call.options));
  return {{{"weights", weights}}, {}};
}

MechanismResult run_average(const MechanismCall& call) {
  return weights_and("output",
                     average_pooling(call.need("values"), call.in("valid_lens"), kBoth));
}

MechanismResult run_maximum(const MechanismCall& call) {
  const Maximum largest = max_pooling(call.need("values"), call.in("valid_lens"));
  return {{{"output", largest.values}, {"indices", largest.indices}}, {}};
}

MechanismResult run_head(const MechanismCall& call) {
  const auto module = loaded(OutputHead({.value_dim = columns(call, "W_o.weight"),
                                         .out = rows(call, "W_o.weight"),
                                         .activation = activation(call, "identity")}),
                             call);
  const auto result = attend_case(module, call);
  return {{{"weights", result.weights}, {"hidden", result.hidden}, {"output", result.output}},
          module.named_parameters()};
}

}  // namespace

std::vector<Mechanism> pooling_mechanisms() {
  return {
      {.name = "masked_softmax",
       .title = "Softmax over the scores that exist",
       .formula = "w_ij = exp(x_ij) / sum_{k < len} exp(x_ik) for j < len, else 0",
       .paper = "Vaswani et al., 2017, arXiv:1706.03762 (masked positions of the decoder)",
       .made_of = "score given, mask lengths, normalise softmax; nothing is pooled",
       .options = "mask_value: \"-1e6\" replaces masked scores by that number instead of "
                  "leaving them out",
       .snippet = R"(nn::seed(1);
Tensor scores = uniform({2, 3, 4}, -1, 1, nn::random());
Tensor valid_lens = Tensor::from<std::int64_t>({4, 2}, {2});
Tensor weights = nn::masked_softmax(scores, valid_lens);)",
       .run = run_masked_softmax,
       .example = Example().inputs(
           {{"x", {2, 3, 5}}, {"valid_lens", integers({5, 2, 0, 1, 3, 4}, {2, 3})}})},
      {.name = "average_pooling",
       .title = "Average pooling: everything counts the same",
       .formula = "out = (1 / len) sum_{t < len} v_t",
       .paper = "Boureau, Ponce, LeCun, 2010 (ICML)",
       .made_of = "score constant, mask lengths, normalise mean, pool weighted sum",
       .snippet = R"(nn::seed(1);
Tensor values = uniform({2, 4, 8}, -1, 1, nn::random());
Tensor valid_lens = Tensor::from<std::int64_t>({4, 2}, {2});
Tensor mean = nn::average_pooling(values, valid_lens).output;)",
       .header = "attn/nn/mechanisms/pooling/plain_pooling.hpp",
       .run = run_average,
       .example = values_example()},
      {.name = "max_pooling",
       .title = "Max pooling: the strongest item of each feature",
       .formula = "out_d = max_{t < len} v_td",
       .paper = "Boureau, Ponce, LeCun, 2010 (ICML)",
       .made_of = "outside: each feature chooses an item of its own, there are no weights",
       .snippet = R"(nn::seed(1);
Tensor values = uniform({2, 4, 8}, -1, 1, nn::random());
Tensor valid_lens = Tensor::from<std::int64_t>({4, 2}, {2});
Maximum largest = nn::max_pooling(values, valid_lens);)",
       .header = "attn/nn/mechanisms/pooling/plain_pooling.hpp",
       .run = run_maximum,
       .example = values_example()},
      {.name = "output_head",
       .title = "Attention with a projection and an activation behind it",
       .formula = "h = softmax(q k^T / sqrt(d)) v, y = f(W_o h + b_o)",
       .paper = "Vaswani et al., 2017, arXiv:1706.03762",
       .made_of = "score scaled dot, mask lengths, normalise softmax, pool weighted sum, then "
                  "a linear layer",
       .options = "activation: f: relu, tanh, gelu, sigmoid or identity",
       .snippet =
           R"(nn::OutputHead head({.value_dim = 6, .out = 4, .activation = Activation::relu});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor v = uniform({2, 5, 6}, -1, 1, nn::random());
nn::OutputHead::Result answer = head.forward(q, k, v);)",
       .run = run_head,
       .example = pooling_example(4, 4)
                      .parameters({{"W_o.weight", {5, 3}}, {"W_o.bias", {5}}})
                      .options({{"activation", "gelu"}})}};
}

}  // namespace attn::nn::adapt
