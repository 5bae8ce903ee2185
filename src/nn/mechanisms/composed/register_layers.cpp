// Multi-step and multi-dimensional attention and CMLA, as mechanisms.

#include <string>

#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/composed/cmla.hpp"
#include "attn/nn/mechanisms/composed/multi_dimensional_attention.hpp"
#include "attn/nn/mechanisms/composed/multi_step_attention.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/random.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/composed/mechanisms.hpp"

namespace attn::nn::composed {
namespace {

Made run_multi_step(const Given& given) {
  const bool conv = given.options.flag("conv", given.has_parameter("layers.0.conv.weight"));
  const auto module = adapt::loaded(
      MultiStepAttention({.channels = adapt::columns(given, "layers.0.in_proj.weight"),
                          .embed_dim = adapt::rows(given, "layers.0.in_proj.weight"),
                          .layers = given.options.whole("num_layers", 1),
                          .kernel = conv ? given.parameter("layers.0.conv.weight").size(2) : 0,
                          .variance = given.options.flag("normalise", false)
                                          ? VarianceRule::authors
                                          : VarianceRule::none}),
      given);
  const auto made = module.forward({.states = given.need("states"),
                                    .target_embed = given.need("target_embed"),
                                    .enc_out = given.need("enc_out"),
                                    .enc_embed = given.need("enc_embed"),
                                    .lengths = given.in("valid_lens")},
                                   adapt::kBoth);
  return {
      {{"weights", made.weights}, {"mean_weights", made.mean_weights}, {"output", made.output}},
      module.named_parameters()};
}

Given multi_step_example(Random& random) {
  Given given;
  given.inputs["states"] = adapt::real(random, {3, 3, 4});
  given.inputs["target_embed"] = adapt::real(random, {3, 3, 3});
  given.inputs["enc_out"] = adapt::real(random, {3, 5, 3});
  given.inputs["enc_embed"] = adapt::real(random, {3, 5, 3});
  given.inputs["valid_lens"] = adapt::lengths({5, 2, 0});
  for (const char* layer : {"layers.0.", "layers.1."}) {
    const std::string name(layer);
    given.parameters[name + "conv.weight"] = adapt::real(random, {8, 4, 2}) * 0.5;
    given.parameters[name + "conv.bias"] = adapt::real(random, {8}) * 0.5;
    given.parameters[name + "in_proj.weight"] = adapt::real(random, {3, 4}) * 0.5;
    given.parameters[name + "in_proj.bias"] = adapt::real(random, {3}) * 0.5;
    given.parameters[name + "out_proj.weight"] = adapt::real(random, {4, 3}) * 0.5;
    given.parameters[name + "out_proj.bias"] = adapt::real(random, {4}) * 0.5;
  }
  given.options = {{"num_layers", 2.0}, {"conv", true}, {"normalise", true}};
  return given;
}

Made run_source(const Given& given) {
  const auto module = adapt::loaded(
      SourceToTokenAttention(
          {.dim = adapt::columns(given, "W1.weight"),
           .hidden = adapt::rows(given, "W1.weight"),
           .activation = adapt::activation(given.options.word("activation", "elu"))}),
      given);
  const auto looked = module.forward(given.need("x"), given.in("valid_lens"));
  return {{{"output", looked.output}, {"weights", looked.weights}}, module.named_parameters()};
}

TokenOrder order_of(const Given& given) {
  const std::string mask = given.options.word("mask", "none");
  if (mask == "none") return TokenOrder::all;
  if (mask == "forward") return TokenOrder::forward;
  if (mask == "backward") return TokenOrder::backward;
  fail("attn::nn: mask '", mask, "'; none, forward and backward are accepted");
}

Made run_dimensional(const Given& given) {
  const std::string kind = given.options.word("kind", "source2token");
  if (kind == "source2token") return run_source(given);
  if (kind != "token2token")
    fail("attn::nn: kind '", kind, "'; source2token and token2token are accepted");
  const auto module =
      adapt::loaded(TokenToTokenAttention({.dim = adapt::rows(given, "W1.weight"),
                                           .cap = given.options.number("c", 5.0),
                                           .order = order_of(given)}),
                    given);
  const auto looked = module.forward(given.need("x"), given.in("valid_lens"), adapt::kBoth);
  return {{{"output", looked.output}, {"context", looked.context}, {"weights", looked.weights}},
          module.named_parameters()};
}

Given dimensional_example(Random& random) {
  Given given;
  given.inputs["x"] = adapt::real(random, {3, 4, 3});
  given.inputs["valid_lens"] = adapt::lengths({4, 2, 0});
  for (const char* name : {"W1", "W2", "W_f1", "W_f2"})
    given.parameters[std::string(name) + ".weight"] = adapt::real(random, {3, 3});
  given.parameters["W2.bias"] = adapt::real(random, {3});
  given.parameters["W_f2.bias"] = adapt::real(random, {3});
  given.options = {
      {"kind", std::string("token2token")}, {"mask", std::string("backward")}, {"c", 3.0}};
  return given;
}

Made run_cmla(const Given& given) {
  const auto module = adapt::loaded(Cmla({.dim = given.parameter("u_a").size(0),
                                          .slices = adapt::rows(given, "G_a"),
                                          .classes = adapt::rows(given, "C_a.weight"),
                                          .layers = given.options.whole("num_layers", 2)}),
                                    given);
  const auto [aspect, opinion] = module.forward(given.need("states"), given.in("valid_lens"));
  return {{{"weights_a", aspect.weights},
           {"weights_p", opinion.weights},
           {"prototype_a", aspect.prototype},
           {"prototype_p", opinion.prototype},
           {"logits_a", aspect.logits},
           {"logits_p", opinion.logits}},
          module.named_parameters()};
}

Given cmla_example(Random& random) {
  Given given;
  given.inputs["states"] = adapt::real(random, {3, 4, 3});
  given.inputs["valid_lens"] = adapt::lengths({4, 2, 0});
  auto& all = given.parameters;
  for (const char* stream : {"_a", "_p"}) {
    const std::string end(stream);
    all["u" + end] = adapt::real(random, {3});
    all["v" + end] = adapt::real(random, {4});
    all["G" + end] = adapt::real(random, {2, 3, 3}) * 0.5;
    all["D" + end] = adapt::real(random, {2, 3, 3}) * 0.5;
    all["Q" + end + ".weight"] = adapt::real(random, {3, 3}) * 0.5;
    all["C" + end + ".weight"] = adapt::real(random, {3, 4});
    all["C" + end + ".bias"] = adapt::real(random, {3});
    for (const char* map : {"W_z", "W_r", "W_h", "U_z", "U_r", "U_h"})
      all["gru" + end + "." + map + ".weight"] = adapt::real(random, {4, 4}) * 0.5;
  }
  given.options = {{"num_layers", 2.0}};
  return given;
}

}  // namespace

Mechanism multi_step_attention() {
  return {
      .name = "multi_step_attention",
      .family = "composed",
      .title = "ConvS2S: every decoder layer looks at the source again",
      .formula =
          "d = W_in h + b + g, a = softmax(d . z), c = sum a (z + e), h = h + W_out c + "
          "b in each layer",
      .paper = "Gehring et al., 2017, arXiv:1705.03122",
      .made_of = "in each layer score dot, mask lengths, normalise softmax, pool weighted sum",
      .options =
          "num_layers: how often it looks\n"
          "conv: whether each layer begins with a causal convolution and a gate\n"
          "normalise: whether the authors' variance rule scales the sums",
      .snippet = R"(nn::MultiStepAttention decoder(
    {.channels = 8, .embed_dim = 6, .layers = 3, .kernel = 3});
Tensor states = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor g = uniform({2, 5, 6}, -1, 1, nn::random()), z = uniform({2, 7, 6}, -1, 1, nn::random());
Tensor output = decoder.forward(
    {.states = states, .target_embed = g, .enc_out = z, .enc_embed = z}).output;)",
      .header = "attn/nn/mechanisms/composed/multi_step_attention.hpp",
      .run = run_multi_step,
      .example = multi_step_example,
  };
}

Mechanism multi_dimensional_attention() {
  return {
      .name = "multi_dimensional_attention",
      .family = "composed",
      .title = "A score for each feature instead of one for each token",
      .formula =
          "source2token: f = W2 act(W1 x + b1) + b2, output = sum_t softmax_t(f) * x_t; "
          "token2token: f_ij = c tanh((W1 x_i + W2 x_j + b) / c), context = sum_i "
          "softmax_i(f_ij) * x_i, output = F x + (1 - F) context",
      .paper = "Shen et al., 2018, arXiv:1709.04696",
      .made_of =
          "features are heads of one channel: score sum capped by tanh, mask lengths and "
          "order, normalise softmax, pool weighted sum",
      .options =
          "kind: source2token or token2token\n"
          "activation: of source2token, elu in the paper\n"
          "mask: of token2token, none, forward (i < j) or backward (i > j)\n"
          "c: of token2token, 5 in the paper",
      .snippet =
          R"(nn::TokenToTokenAttention tokens({.dim = 8, .order = nn::TokenOrder::forward});
nn::SourceToTokenAttention source({.dim = 8});
Tensor x = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor sentence = source.forward(tokens.forward(x).output).output;)",
      .header = "attn/nn/mechanisms/composed/multi_dimensional_attention.hpp",
      .run = run_dimensional,
      .example = dimensional_example,
  };
}

Mechanism cmla() {
  return {
      .name = "cmla",
      .family = "composed",
      .title = "Coupled multi-layer attentions for aspect and opinion terms",
      .formula =
          "beta_i = tanh([h_i G_m u_m; h_i D_m u_o]), r = GRU(beta), a = softmax(v_m . "
          "r_i), u_m = tanh(Q_m u_m) + sum a_i h_i, logits_m = C_m sum_layers r_i + b",
      .paper = "Wang, Pan, Dahlmeier, Xiao, 2017 (AAAI)",
      .made_of =
          "twice in each layer score given (from a GRU), mask lengths, normalise "
          "softmax, pool weighted sum",
      .options = "num_layers: how often both streams look",
      .snippet = R"(nn::Cmla model({.dim = 8, .slices = 3, .classes = 3, .layers = 2});
Tensor states = uniform({2, 6, 8}, -1, 1, nn::random());
nn::CmlaResult made = model.forward(states);
Tensor aspect_tags = made.aspect.logits, opinion_tags = made.opinion.logits;)",
      .header = "attn/nn/mechanisms/composed/cmla.hpp",
      .run = run_cmla,
      .example = cmla_example,
  };
}

}  // namespace attn::nn::composed
