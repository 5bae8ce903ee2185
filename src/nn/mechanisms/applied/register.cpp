// Attention as applications shaped it: speech, summaries, entailment.

#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/applied/entailment_word_by_word.hpp"
#include "attn/nn/mechanisms/applied/las_attention.hpp"
#include "attn/nn/mechanisms/applied/las_listener_layer.hpp"
#include "attn/nn/mechanisms/applied/location_aware.hpp"
#include "attn/nn/mechanisms/applied/rush_summariser_attention.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/families.hpp"

namespace attn::nn {
namespace {

constexpr const char* kChan = "Chan et al., 2016, arXiv:1508.01211";

/// "encoder" [3, 4, 3], "queries" [3, 3, 2] and lengths with an empty row.
Given speech_example(Random& random) {
  Given given;
  given.inputs["encoder"] = adapt::real(random, {3, 4, 3});
  given.inputs["queries"] = adapt::real(random, {3, 3, 2});
  given.inputs["valid_lens"] = adapt::lengths({4, 2, 0});
  return given;
}

LocationNormaliser location_normaliser(const std::string& name) {
  if (name == "softmax") return LocationNormaliser::softmax;
  if (name == "smooth") return LocationNormaliser::smooth;
  fail("attn::nn::LocationAwareAttention: normaliser '", name,
       "'; softmax and smooth are accepted");
}

Made run_location(const Given& given) {
  const auto module = adapt::loaded(
      LocationAwareAttention(
          {.encoder_dim = adapt::columns(given, "V.weight"),
           .query_dim = adapt::columns(given, "W.weight"),
           .hidden = adapt::rows(given, "W.weight"),
           .channels = adapt::columns(given, "U.weight"),
           .width = given.parameter("conv.weight").size(2),
           .normaliser = location_normaliser(given.options.word("normaliser", "softmax")),
           .sharpening = given.options.number("sharpening", 1.0)}),
      given);
  return adapt::weights_and_context(
      module.forward(given.need("encoder"), given.need("queries"), given.in("valid_lens")),
      module.named_parameters());
}

Mechanism location() {
  return {
      .name = "location_aware",
      .family = "applied",
      .title = "Speech: where the weights were guides where they go",
      .formula = "f = F * a_prev, e_j = w^T tanh(W s + V h_j + U f_j + b)",
      .paper = "Chorowski et al., 2015, arXiv:1506.07503",
      .made_of =
          "score additive with the convolved weights in the keys, mask lengths, "
          "normalise softmax or summed sigmoid, pool weighted sum; step after step",
      .options =
          "normaliser: softmax or smooth\nsharpening: factor of the energies before "
          "softmax",
      .snippet =
          R"(nn::LocationAwareAttention attention({.encoder_dim = 8, .query_dim = 6, .hidden = 16,
                                      .channels = 3, .width = 5});
Tensor frames = uniform({2, 9, 8}, -1, 1, nn::random());
Tensor states = uniform({2, 4, 6}, -1, 1, nn::random());
Tensor weights = attention.forward(frames, states).weights;)",
      .header = "attn/nn/mechanisms/applied/location_aware.hpp",
      .run = run_location,
      .example =
          [](Random& random) {
            Given given = speech_example(random);
            given.options.set("sharpening", 1.5);
            given.parameters["W.weight"] = adapt::real(random, {5, 2});
            given.parameters["W.bias"] = adapt::real(random, {5});
            given.parameters["V.weight"] = adapt::real(random, {5, 3});
            given.parameters["U.weight"] = adapt::real(random, {5, 2});
            given.parameters["conv.weight"] = adapt::real(random, {2, 1, 3});
            given.parameters["w"] = adapt::real(random, {5});
            return given;
          },
  };
}

Made run_las(const Given& given) {
  const auto module = adapt::loaded(
      LasAttention({.encoder_dim = adapt::columns(given, "psi.weight"),
                    .query_dim = adapt::columns(given, "phi.weight"),
                    .hidden = adapt::rows(given, "phi.weight"),
                    .activation = adapt::activation(given.options.word("activation", "relu"))}),
      given);
  return adapt::weights_and_context(
      module.forward(given.need("encoder"), given.need("queries"), given.in("valid_lens"),
                     Want::output | Want::weights),
      module.named_parameters());
}

Mechanism las() {
  return {
      .name = "las_attention",
      .family = "applied",
      .title = "Listen, Attend and Spell: query and keys pass a layer before they meet",
      .formula = "w = softmax(phi(s) . psi(h)), context = sum w h",
      .paper = kChan,
      .made_of =
          "score dot of projected query and keys, mask lengths, normalise softmax, pool "
          "weighted sum",
      .options = "activation: of phi and psi",
      .snippet =
          R"(nn::LasAttention attention({.encoder_dim = 8, .query_dim = 6, .hidden = 16});
Tensor frames = uniform({2, 9, 8}, -1, 1, nn::random());
Tensor states = uniform({2, 4, 6}, -1, 1, nn::random());
Tensor context = attention.forward(frames, states).output;)",
      .header = "attn/nn/mechanisms/applied/las_attention.hpp",
      .run = run_las,
      .example =
          [](Random& random) {
            Given given = speech_example(random);
            given.options.set("activation", std::string("tanh"));
            given.parameters["phi.weight"] = adapt::real(random, {5, 2});
            given.parameters["phi.bias"] = adapt::real(random, {5});
            given.parameters["psi.weight"] = adapt::real(random, {5, 3});
            given.parameters["psi.bias"] = adapt::real(random, {5});
            return given;
          },
  };
}

Made run_listener(const Given& given) {
  const auto module =
      adapt::loaded(ListenerLayer({.in = adapt::columns(given, "lstm.weight_ih_l0") / 2,
                                   .hidden = adapt::columns(given, "lstm.weight_hh_l0")}),
                    given);
  const Listened heard = module.forward(given.need("x"), given.in("valid_lens"));
  return {{{"output", heard.output}, {"lens", heard.lengths}}, module.named_parameters()};
}

Mechanism listener() {
  return {
      .name = "las_listener_layer",
      .family = "applied",
      .title = "One step of the listener's pyramid: half as many frames, twice as wide",
      .formula = "output = BiLSTM([x_{2t}; x_{2t+1}])",
      .paper = kChan,
      .made_of = "no attention: it shortens what las_attention looks at",
      .options = "",
      .snippet = R"(nn::ListenerLayer layer({.in = 8, .hidden = 16});
Tensor frames = uniform({2, 9, 8}, -1, 1, nn::random());
nn::Listened heard = layer.forward(frames);)",
      .header = "attn/nn/mechanisms/applied/las_listener_layer.hpp",
      .run = run_listener,
      .example =
          [](Random& random) {
            Given given;
            given.inputs["x"] = adapt::real(random, {3, 5, 2});
            given.inputs["valid_lens"] = adapt::lengths({5, 3, 1});
            adapt::add_recurrent(given, random, "lstm.", 4, 4, 3, 1, true);
            return given;
          },
  };
}

SmoothingDivisor divisor(const std::string& name) {
  if (name == "Q") return SmoothingDivisor::reach;
  if (name == "count") return SmoothingDivisor::count;
  fail("attn::nn::RushAttention: divisor '", name, "'; Q and count are accepted");
}

Made run_rush(const Given& given) {
  const Tensor words = given.need("context_words");
  const auto module =
      adapt::loaded(RushAttention({.source_words = adapt::rows(given, "F.weight"),
                                   .source_dim = adapt::columns(given, "F.weight"),
                                   .context_words = adapt::rows(given, "G.weight"),
                                   .context_dim = adapt::columns(given, "G.weight"),
                                   .context_length = words.size(1),
                                   .reach = given.options.whole("Q", 2),
                                   .divisor = divisor(given.options.word("divisor", "Q"))}),
                    given);
  const auto [weights, smoothed, context] =
      module.forward(given.need("src"), words, given.in("valid_lens"));
  return {{{"weights", weights}, {"smoothed", smoothed}, {"context", context}},
          module.named_parameters()};
}

Mechanism rush() {
  return {
      .name = "rush_summariser_attention",
      .family = "applied",
      .title =
          "Summaries: the last words look for source words, smoothed with their neighbours",
      .formula =
          "p = softmax(x_i^T P y), smoothed_i = sum_{|q - i| <= Q} x_q / divisor, "
          "context = sum p_i smoothed_i",
      .paper = "Rush, Chopra, Weston, 2015, arXiv:1509.00685",
      .made_of =
          "score dot, mask lengths, normalise softmax, pool weighted sum of values that "
          "are themselves attention with equal scores in a window",
      .options = "Q: reach of the smoothing\ndivisor: Q, or count of valid words in the window",
      .snippet =
          R"(nn::RushAttention attention({.source_words = 20, .source_dim = 8, .context_words = 20,
                             .context_dim = 4, .context_length = 3, .reach = 2});
Tensor source = random_integers({2, 7}, 0, 20, nn::random());
Tensor last = random_integers({2, 3}, 0, 20, nn::random());
Tensor context = attention.forward(source, last).context;)",
      .header = "attn/nn/mechanisms/applied/rush_summariser_attention.hpp",
      .run = run_rush,
      .example =
          [](Random& random) {
            Given given;
            given.inputs["src"] = adapt::ids(random, {3, 5}, 6);
            given.inputs["context_words"] = adapt::ids(random, {3, 2}, 4);
            given.inputs["valid_lens"] = adapt::lengths({5, 3, 0});
            given.options.set("Q", 1.0);
            given.options.set("divisor", std::string("count"));
            given.parameters["F.weight"] = adapt::real(random, {6, 3});
            given.parameters["G.weight"] = adapt::real(random, {4, 2});
            given.parameters["P.weight"] = adapt::real(random, {3, 4});
            return given;
          },
  };
}

Made run_entailment(const Given& given) {
  const auto module =
      adapt::loaded(WordByWordAttention(adapt::rows(given, "W_y.weight")), given);
  const auto [weights, r, h_star] =
      module.forward(given.need("premise"), given.need("hypothesis"), given.in("premise_lens"),
                     given.in("hypothesis_lens"));
  return {{{"weights", weights}, {"r", r}, {"h_star", h_star}}, module.named_parameters()};
}

Mechanism entailment() {
  return {
      .name = "entailment_word_by_word",
      .family = "applied",
      .title = "Entailment: each word of the hypothesis reads the premise and remembers",
      .formula =
          "a_t = softmax(w^T tanh(W_y Y + (W_h h_t + W_r r_{t-1}))), "
          "r_t = sum a_t Y + tanh(W_t r_{t-1}), h* = tanh(W_p r_N + W_x h_N)",
      .paper = "Rocktaeschel et al., 2016, arXiv:1509.06664",
      .made_of =
          "score additive, mask lengths, normalise softmax, pool weighted sum; word "
          "after word",
      .options = "",
      .snippet = R"(nn::WordByWordAttention reader(8);
Tensor premise = uniform({2, 7, 8}, -1, 1, nn::random());
Tensor hypothesis = uniform({2, 4, 8}, -1, 1, nn::random());
Tensor judged = reader.forward(premise, hypothesis).h_star;)",
      .header = "attn/nn/mechanisms/applied/entailment_word_by_word.hpp",
      .run = run_entailment,
      .example =
          [](Random& random) {
            Given given;
            given.inputs["premise"] = adapt::real(random, {4, 4, 3});
            given.inputs["hypothesis"] = adapt::real(random, {4, 3, 3});
            given.inputs["premise_lens"] = adapt::lengths({4, 2, 0, 3});
            given.inputs["hypothesis_lens"] = adapt::lengths({3, 2, 1, 0});
            for (const char* name : {"W_y", "W_h", "W_r", "W_t", "W_p", "W_x"})
              given.parameters[std::string(name) + ".weight"] = adapt::real(random, {3, 3});
            given.parameters["w"] = adapt::real(random, {3});
            return given;
          },
  };
}

}  // namespace

std::vector<Mechanism> applied_mechanisms() {
  return {location(), las(), listener(), rush(), entailment()};
}

}  // namespace attn::nn
