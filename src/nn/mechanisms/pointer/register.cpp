// Pointers, as mechanisms.

#include <vector>

#include "attn/nn/mechanisms/pointer/biaffine_attention.hpp"
#include "attn/nn/mechanisms/pointer/pointer.hpp"
#include "attn/nn/mechanisms/pointer/pointer_generator.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/padding.hpp"

namespace attn::nn::adapt {
namespace {

MechanismResult run_pointer(const MechanismCall& call) {
  const auto module = loaded(Pointer({.encoder_dim = columns(call, "W1.weight"),
                                      .decoder_dim = columns(call, "W2.weight"),
                                      .hidden = rows(call, "W1.weight")}),
                             call);
  const Pointed pointed =
      module.forward(call.need("encoder_states"), call.need("decoder_states"),
                     {call.in("valid_lens"), call.in("visited")}, call.in("targets"));
  MechanismResult result{{{"weights", pointed.weights}}, module.named_parameters()};
  if (pointed.log_prob.defined()) result.outputs.push_back({"log_prob", pointed.log_prob});
  return result;
}

MechanismResult run_generator(const MechanismCall& call) {
  const bool coverage = call.options.flag("coverage", true);
  const auto module = loaded(
      PointerGenerator({.encoder_dim = columns(call, "W_h.weight"),
                        .decoder_dim = columns(call, "W_s.weight"),
                        .input_dim = columns(call, "gen_x.weight"),
                        .hidden = rows(call, "W_h.weight"),
                        .coverage = call.has_parameter("w_c") ? Coverage::on : Coverage::off}),
      call);
  const PointerGenerated result =
      module.forward({.encoder_states = call.need("encoder_states"),
                      .decoder_states = call.need("decoder_states"),
                      .decoder_inputs = call.need("decoder_inputs"),
                      .vocab_logits = call.need("vocab_logits"),
                      .src_ids = call.need("src_ids"),
                      .lengths = call.in("valid_lens"),
                      .targets = call.need("targets"),
                      .target_lens = call.in("target_lens"),
                      .extra_words = call.options.whole("extra_words", 0),
                      .eps = call.options.number("eps", 1e-12),
                      .coverage = coverage ? Coverage::on : Coverage::off});
  return {{{"weights", result.weights},
           {"context", result.context},
           {"coverage", result.coverage},
           {"p_gen", result.p_gen},
           {"final_dist", result.final_dist},
           {"nll", result.nll},
           {"coverage_loss", result.coverage_loss}},
          module.named_parameters()};
}

MechanismResult run_biaffine(const MechanismCall& call) {
  const auto module =
      loaded(BiaffineAttention({.dependent_dim = columns(call, "dependent.weight"),
                                .head_dim = columns(call, "head.weight"),
                                .hidden = rows(call, "U"),
                                .activation = activation(call, "relu")}),
             call);
  const Biaffine pointed =
      module.forward(call.need("dependents"), call.need("heads"),
                     {.lengths = call.in("valid_lens"), .keep = {}}, call.in("targets"));
  // That of a row without heads is -inf; its gradient is nothing.
  const Tensor sums = keep_where(pointed.log_sum_exp, padding::is_score(pointed.log_sum_exp));
  MechanismResult result{{{"weights", pointed.weights}, {"log_sum_exp", sums}},
                         module.named_parameters()};
  if (pointed.log_prob.defined()) result.outputs.push_back({"log_prob", pointed.log_prob});
  return result;
}

}  // namespace

std::vector<Mechanism> pointer_mechanisms() {
  return {
      {.name = "pointer",
       .title = "Pointer network: the weights themselves are the answer",
       .formula = "p = softmax(v^T tanh(W1 e_j + W2 d_i)) over valid, unvisited j",
       .paper = "Vinyals, Fortunato, Jaitly, 2015, arXiv:1506.03134",
       .made_of =
           "score additive, mask lengths and not visited, normalise softmax; nothing is pooled",
       .snippet = R"(nn::Pointer pointer({.encoder_dim = 8, .decoder_dim = 6, .hidden = 16});
Tensor positions = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor queries = uniform({2, 3, 6}, -1, 1, nn::random());
Tensor weights = pointer.forward(positions, queries).weights;)",
       .run = run_pointer,
       .example = Example()
                      .inputs({{"encoder_states", {3, 4, 3}},
                               {"decoder_states", {3, 2, 2}},
                               {"valid_lens", lengths({4, 2, 0})},
                               {"targets", integers({3, 0, 1, -1, 2, -1}, {3, 2})}})
                      .parameters({{"W1.weight", {5, 3}}, {"W2.weight", {5, 2}}, {"v", {5}}})},
      {.name = "pointer_generator",
       .title = "Copy a word of the source or generate one, and remember what was covered",
       .formula =
           "e_i = v^T tanh(W_h h_i + W_s s_t + w_c c_i + b), a = softmax(e), P(w) = p_gen "
           "softmax(vocab)(w) + (1 - p_gen) sum_{i: id_i = w} a_i, c_t = sum_{t' < t} a_t'",
       .paper = "See, Liu, Manning, 2017, arXiv:1704.04368",
       .made_of = "score additive with the coverage in the keys, mask lengths, normalise "
                  "softmax, pool weighted sum; with coverage one step after the other",
       .options = "coverage: whether the score sees the coverage\n"
                  "extra_words: words of the source that the vocabulary lacks\n"
                  "eps: inside the logarithm of the loss",
       .snippet =
           R"(nn::PointerGenerator copy({.encoder_dim = 8, .decoder_dim = 6, .input_dim = 4, .hidden = 16});
nn::PointerGenerated made = copy.forward(
    {.encoder_states = uniform({2, 5, 8}, -1, 1, nn::random()),
     .decoder_states = uniform({2, 3, 6}, -1, 1, nn::random()),
     .decoder_inputs = uniform({2, 3, 4}, -1, 1, nn::random()),
     .vocab_logits = uniform({2, 3, 20}, -1, 1, nn::random()),
     .src_ids = random_integers({2, 5}, 0, 22, nn::random()), .extra_words = 2});)",
       .run = run_generator,
       .example =
           Example()
               .inputs({{"encoder_states", {3, 4, 3}},
                        {"decoder_states", {3, 3, 2}},
                        {"decoder_inputs", {3, 3, 2}},
                        {"vocab_logits", {3, 3, 5}},
                        {"src_ids", integers({1, 5, 1, 6, 0, 5, 2, 2, 3, 3, 3, 3}, {3, 4})},
                        {"targets", integers({1, 5, 0, 5, 2, 4, 1, 2, 3}, {3, 3})},
                        {"valid_lens", lengths({4, 2, 0})},
                        {"target_lens", lengths({3, 2, 1})}})
               .parameters_of<PointerGenerator>(
                   PointerGeneratorOptions{.encoder_dim = 3,
                                           .decoder_dim = 2,
                                           .input_dim = 2,
                                           .hidden = 5,
                                           .coverage = Coverage::on})
               .options({{"coverage", true}, {"extra_words", 2.0}})},
      {.name = "biaffine_attention",
       .title = "Each word of a sentence points at the word it depends on",
       .formula = "d_i = act(W_d x_i + b_d), h_j = act(W_h y_j + b_h), s_ij = h_j^T U d_i + "
                  "u^T [h_j; d_i] + b, p = softmax over valid j of s_ij",
       .paper = "Dozat, Manning, 2017, arXiv:1611.01734",
       .made_of = "score dot of U d + u_h with the heads and a bias for each dependent, mask "
                  "lengths, normalise softmax; nothing is pooled",
       .options = "activation: of both perceptrons, relu in the paper",
       .snippet =
           R"(nn::BiaffineAttention arcs({.dependent_dim = 8, .head_dim = 8, .hidden = 16});
Tensor words = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor root = uniform({2, 1, 8}, -1, 1, nn::random());
Tensor weights = arcs.forward(words, concat({root, words}, 1)).weights;)",
       .run = run_biaffine,
       .example = Example()
                      .inputs({{"dependents", {3, 3, 2}},
                               {"heads", {3, 4, 3}},
                               {"valid_lens", lengths({4, 2, 0})},
                               {"targets", integers({3, 0, 1, -1, 1, 0, -1, -1, -1}, {3, 3})}})
                      .parameters_of<BiaffineAttention>(
                          BiaffineOptions{.dependent_dim = 2, .head_dim = 3, .hidden = 4})
                      .options({{"activation", "tanh"}})}};
}

}  // namespace attn::nn::adapt
