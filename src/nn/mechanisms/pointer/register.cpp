// Pointers, as mechanisms.

#include <vector>

#include "attn/nn/mechanisms/pointer/pointer.hpp"
#include "attn/nn/mechanisms/pointer/pointer_generator.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

Made run_pointer(const Given& given) {
  const auto module = loaded(Pointer({.encoder_dim = columns(given, "W1.weight"),
                                      .decoder_dim = columns(given, "W2.weight"),
                                      .hidden = rows(given, "W1.weight")}),
                             given);
  const Pointed pointed =
      module.forward(given.need("encoder_states"), given.need("decoder_states"),
                     {given.in("valid_lens"), given.in("visited")}, given.in("targets"));
  Made made{{{"weights", pointed.weights}}, module.named_parameters()};
  if (pointed.log_prob.defined()) made.outputs.push_back({"log_prob", pointed.log_prob});
  return made;
}

Made run_generator(const Given& given) {
  const bool coverage = given.options.flag("coverage", true);
  const auto module = loaded(
      PointerGenerator({.encoder_dim = columns(given, "W_h.weight"),
                        .decoder_dim = columns(given, "W_s.weight"),
                        .input_dim = columns(given, "gen_x.weight"),
                        .hidden = rows(given, "W_h.weight"),
                        .coverage = given.has_parameter("w_c") ? Coverage::on : Coverage::off}),
      given);
  const PointerGenerated made =
      module.forward({.encoder_states = given.need("encoder_states"),
                      .decoder_states = given.need("decoder_states"),
                      .decoder_inputs = given.need("decoder_inputs"),
                      .vocab_logits = given.need("vocab_logits"),
                      .src_ids = given.need("src_ids"),
                      .lengths = given.in("valid_lens"),
                      .targets = given.need("targets"),
                      .target_lens = given.in("target_lens"),
                      .extra_words = given.options.whole("extra_words", 0),
                      .eps = given.options.number("eps", 1e-12),
                      .coverage = coverage ? Coverage::on : Coverage::off});
  return {{{"weights", made.weights},
           {"context", made.context},
           {"coverage", made.coverage},
           {"p_gen", made.p_gen},
           {"final_dist", made.final_dist},
           {"nll", made.nll},
           {"coverage_loss", made.coverage_loss}},
          module.named_parameters()};
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
               .options({{"coverage", true}, {"extra_words", 2.0}})}};
}

}  // namespace attn::nn::adapt
