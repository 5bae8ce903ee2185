// Pooling without a learnt score, as mechanisms.

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/pooling/masked_softmax.hpp"
#include "attn/nn/mechanisms/pooling/output_head.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/families.hpp"

namespace attn::nn {
namespace {

MaskedSoftmaxOptions masked_softmax_options(const Options& options) {
  const std::string value = options.word("mask_value", "");
  if (value.empty()) return {};
  if (value != "-1e6")
    fail("attn::nn::masked_softmax: mask_value '", value, "'; -1e6 is accepted, or none");
  return {.fill = -1e6};
}

Given values_example(Random& random) {
  Given given;
  given.inputs["values"] = adapt::real(random, {4, 5, 3});
  given.inputs["valid_lens"] = adapt::lengths({5, 2, 0, 1});
  return given;
}

Mechanism softmax_of_lengths() {
  return {
      .name = "masked_softmax",
      .family = "pooling",
      .title = "Softmax over the scores that exist",
      .formula = "w_ij = exp(x_ij) / sum_{k < len} exp(x_ik) for j < len, else 0",
      .paper = "Vaswani et al., 2017, arXiv:1706.03762 (masked positions of the decoder)",
      .made_of = "score given, mask lengths, normalise softmax; nothing is pooled",
      .options =
          "mask_value: \"-1e6\" replaces masked scores by that number instead of "
          "leaving them out",
      .snippet = R"(nn::seed(1);
Tensor scores = uniform({2, 3, 4}, -1, 1, nn::random());
Tensor valid_lens = Tensor::from<std::int64_t>({4, 2}, {2});
Tensor weights = nn::masked_softmax(scores, valid_lens);)",
      .header = "attn/nn/mechanisms/pooling/masked_softmax.hpp",
      .run =
          [](const Given& given) {
            const Tensor weights = masked_softmax(given.need("x"), given.in("valid_lens"),
                                                  masked_softmax_options(given.options));
            return Made{{{"weights", weights}}, {}};
          },
      .example =
          [](Random& random) {
            Given given;
            given.inputs["x"] = adapt::real(random, {2, 3, 5});
            given.inputs["valid_lens"] =
                Tensor::from(std::vector<std::int64_t>{5, 2, 0, 1, 3, 4}, {2, 3});
            return given;
          },
  };
}

Mechanism average() {
  return {
      .name = "average_pooling",
      .family = "pooling",
      .title = "Average pooling: everything counts the same",
      .formula = "out = (1 / len) sum_{t < len} v_t",
      .paper = "Boureau, Ponce, LeCun, 2010 (ICML)",
      .made_of = "score constant, mask lengths, normalise mean, pool weighted sum",
      .options = "",
      .snippet = R"(nn::seed(1);
Tensor values = uniform({2, 4, 8}, -1, 1, nn::random());
Tensor valid_lens = Tensor::from<std::int64_t>({4, 2}, {2});
Tensor mean = nn::average_pooling(values, valid_lens).output;)",
      .header = "attn/nn/mechanisms/pooling/plain_pooling.hpp",
      .run =
          [](const Given& given) {
            const Attended pooled =
                average_pooling(given.need("values"), given.in("valid_lens"), adapt::kBoth);
            return Made{{{"output", pooled.output}, {"weights", pooled.weights}}, {}};
          },
      .example = values_example,
  };
}

Mechanism maximum() {
  return {
      .name = "max_pooling",
      .family = "pooling",
      .title = "Max pooling: the strongest item of each feature",
      .formula = "out_d = max_{t < len} v_td",
      .paper = "Boureau, Ponce, LeCun, 2010 (ICML)",
      .made_of = "outside: each feature chooses an item of its own, there are no weights",
      .options = "",
      .snippet = R"(nn::seed(1);
Tensor values = uniform({2, 4, 8}, -1, 1, nn::random());
Tensor valid_lens = Tensor::from<std::int64_t>({4, 2}, {2});
Maximum largest = nn::max_pooling(values, valid_lens);)",
      .header = "attn/nn/mechanisms/pooling/plain_pooling.hpp",
      .run =
          [](const Given& given) {
            const Maximum largest = max_pooling(given.need("values"), given.in("valid_lens"));
            return Made{{{"output", largest.values}, {"indices", largest.indices}}, {}};
          },
      .example = values_example,
  };
}

Mechanism head() {
  return {
      .name = "output_head",
      .family = "pooling",
      .title = "Attention with a projection and an activation behind it",
      .formula = "h = softmax(q k^T / sqrt(d)) v, y = f(W_o h + b_o)",
      .paper = "Vaswani et al., 2017, arXiv:1706.03762",
      .made_of =
          "score scaled dot, mask lengths, normalise softmax, pool weighted sum, then "
          "a linear layer",
      .options = "activation: f: relu, tanh, gelu, sigmoid or identity",
      .snippet =
          R"(nn::OutputHead head({.value_dim = 6, .out = 4, .activation = Activation::relu});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor v = uniform({2, 5, 6}, -1, 1, nn::random());
nn::OutputHead::Result answer = head.forward(q, k, v);)",
      .header = "attn/nn/mechanisms/pooling/output_head.hpp",
      .run =
          [](const Given& given) {
            const auto activation =
                adapt::activation(given.options.word("activation", "identity"));
            const auto module =
                adapt::loaded(OutputHead({.value_dim = adapt::columns(given, "W_o.weight"),
                                          .out = adapt::rows(given, "W_o.weight"),
                                          .activation = activation}),
                              given);
            const auto made =
                module.forward(given.need("queries"), given.need("keys"), given.need("values"),
                               adapt::keep_lengths(given), adapt::kBoth);
            return Made{
                {{"weights", made.weights}, {"hidden", made.hidden}, {"output", made.output}},
                module.named_parameters()};
          },
      .example =
          [](Random& random) {
            Given given = adapt::pooling_example(random, 4, 4);
            given.parameters["W_o.weight"] = adapt::real(random, {5, 3});
            given.parameters["W_o.bias"] = adapt::real(random, {5});
            given.options.set("activation", std::string("gelu"));
            return given;
          },
  };
}

}  // namespace

std::vector<Mechanism> pooling_mechanisms() {
  return {softmax_of_lengths(), average(), maximum(), head()};
}

}  // namespace attn::nn
