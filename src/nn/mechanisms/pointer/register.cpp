// Pointers, as mechanisms.

#include <cstdint>
#include <vector>

#include "attn/nn/mechanisms/pointer/pointer.hpp"
#include "attn/nn/mechanisms/pointer/pointer_generator.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/families.hpp"

namespace attn::nn {
namespace {

Made run_pointer(const Given& given) {
  const auto module = adapt::loaded(Pointer({.encoder_dim = adapt::columns(given, "W1.weight"),
                                             .decoder_dim = adapt::columns(given, "W2.weight"),
                                             .hidden = adapt::rows(given, "W1.weight")}),
                                    given);
  const Pointed pointed =
      module.forward(given.need("encoder_states"), given.need("decoder_states"),
                     {given.in("valid_lens"), given.in("visited")}, given.in("targets"));
  Made made{{{"weights", pointed.weights}}, module.named_parameters()};
  if (pointed.log_prob.defined()) made.outputs.push_back({"log_prob", pointed.log_prob});
  return made;
}

Given pointer_example(Random& random) {
  Given given;
  given.inputs["encoder_states"] = adapt::real(random, {3, 4, 3});
  given.inputs["decoder_states"] = adapt::real(random, {3, 2, 2});
  given.inputs["valid_lens"] = adapt::lengths({4, 2, 0});
  given.inputs["targets"] = Tensor::from(std::vector<std::int64_t>{3, 0, 1, -1, 2, -1}, {3, 2});
  given.parameters["W1.weight"] = adapt::real(random, {5, 3});
  given.parameters["W2.weight"] = adapt::real(random, {5, 2});
  given.parameters["v"] = adapt::real(random, {5});
  return given;
}

Mechanism pointer() {
  return {
      .name = "pointer",
      .family = "pointer",
      .title = "Pointer network: the weights themselves are the answer",
      .formula = "p = softmax(v^T tanh(W1 e_j + W2 d_i)) over valid, unvisited j",
      .paper = "Vinyals, Fortunato, Jaitly, 2015, arXiv:1506.03134",
      .made_of =
          "score additive, mask lengths and not visited, normalise softmax; nothing is "
          "pooled",
      .options = "",
      .snippet = R"(nn::Pointer pointer({.encoder_dim = 8, .decoder_dim = 6, .hidden = 16});
Tensor places = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor queries = uniform({2, 3, 6}, -1, 1, nn::random());
Tensor weights = pointer.forward(places, queries).weights;)",
      .header = "attn/nn/mechanisms/pointer/pointer.hpp",
      .run = run_pointer,
      .example = pointer_example,
  };
}

Made run_generator(const Given& given) {
  const bool coverage = given.options.flag("coverage", true);
  const auto module = adapt::loaded(
      PointerGenerator({.encoder_dim = adapt::columns(given, "W_h.weight"),
                        .decoder_dim = adapt::columns(given, "W_s.weight"),
                        .input_dim = adapt::columns(given, "gen_x.weight"),
                        .hidden = adapt::rows(given, "W_h.weight"),
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

Given generator_example(Random& random) {
  Given given;
  given.inputs["encoder_states"] = adapt::real(random, {3, 4, 3});
  given.inputs["decoder_states"] = adapt::real(random, {3, 3, 2});
  given.inputs["decoder_inputs"] = adapt::real(random, {3, 3, 2});
  given.inputs["vocab_logits"] = adapt::real(random, {3, 3, 5});
  given.inputs["src_ids"] =
      Tensor::from(std::vector<std::int64_t>{1, 5, 1, 6, 0, 5, 2, 2, 3, 3, 3, 3}, {3, 4});
  given.inputs["targets"] =
      Tensor::from(std::vector<std::int64_t>{1, 5, 0, 5, 2, 4, 1, 2, 3}, {3, 3});
  given.inputs["valid_lens"] = adapt::lengths({4, 2, 0});
  given.inputs["target_lens"] = adapt::lengths({3, 2, 1});
  given.options.set("coverage", true);
  given.options.set("extra_words", 2.0);
  auto& all = given.parameters;
  all["W_h.weight"] = adapt::real(random, {5, 3});
  all["W_s.weight"] = adapt::real(random, {5, 2});
  all["W_s.bias"] = adapt::real(random, {5});
  all["v"] = adapt::real(random, {5});
  all["w_c"] = adapt::real(random, {5});
  all["gen_h.weight"] = adapt::real(random, {1, 3});
  all["gen_s.weight"] = adapt::real(random, {1, 2});
  all["gen_x.weight"] = adapt::real(random, {1, 2});
  all["gen_b"] = adapt::real(random, {1});
  return given;
}

Mechanism generator() {
  return {
      .name = "pointer_generator",
      .family = "pointer",
      .title = "Copy a word of the source or generate one, and remember what was covered",
      .formula =
          "e_i = v^T tanh(W_h h_i + W_s s_t + w_c c_i + b), a = softmax(e), "
          "P(w) = p_gen softmax(vocab)(w) + (1 - p_gen) sum_{i: id_i = w} a_i, "
          "c_t = sum_{t' < t} a_t'",
      .paper = "See, Liu, Manning, 2017, arXiv:1704.04368",
      .made_of =
          "score additive with the coverage in the keys, mask lengths, normalise "
          "softmax, pool weighted sum; with coverage one step after the other",
      .options =
          "coverage: whether the score sees the coverage\n"
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
      .header = "attn/nn/mechanisms/pointer/pointer_generator.hpp",
      .run = run_generator,
      .example = generator_example,
  };
}

}  // namespace

std::vector<Mechanism> pointer_mechanisms() {
  return {pointer(), generator()};
}

}  // namespace attn::nn
