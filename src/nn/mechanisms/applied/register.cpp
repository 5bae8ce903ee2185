// Attention as applications shaped it: speech, summaries, entailment.

#include <vector>

#include "attn/nn/mechanisms/applied/entailment_word_by_word.hpp"
#include "attn/nn/mechanisms/applied/las_attention.hpp"
#include "attn/nn/mechanisms/applied/las_listener_layer.hpp"
#include "attn/nn/mechanisms/applied/location_aware.hpp"
#include "attn/nn/mechanisms/applied/rush_summariser_attention.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

constexpr const char* kChan = "Chan et al., 2016, arXiv:1508.01211";

/// "encoder" [3, 4, 3], "queries" [3, 3, 2] and lengths with an empty row.
Example speech_example() {
  return Example().inputs(
      {{"encoder", {3, 4, 3}}, {"queries", {3, 3, 2}}, {"valid_lens", lengths({4, 2, 0})}});
}

MechanismResult run_location(const MechanismCall& call) {
  const auto module =
      loaded(LocationAwareAttention({.encoder_dim = columns(call, "V.weight"),
                                     .query_dim = columns(call, "W.weight"),
                                     .hidden = rows(call, "W.weight"),
                                     .channels = columns(call, "U.weight"),
                                     .width = call.parameter("conv.weight").size(2),
                                     .normaliser = choice<LocationNormaliser>(
                                         "attn::nn::LocationAwareAttention: normaliser",
                                         call.options.word("normaliser", "softmax"),
                                         {{"softmax", LocationNormaliser::softmax},
                                          {"smooth", LocationNormaliser::smooth}}),
                                     .sharpening = call.options.number("sharpening", 1.0)}),
             call);
  return weights_and(
      "context",
      module.forward(call.need("encoder"), call.need("queries"), call.in("valid_lens")),
      module.named_parameters());
}

MechanismResult run_las(const MechanismCall& call) {
  const auto module = loaded(LasAttention({.encoder_dim = columns(call, "psi.weight"),
                                           .query_dim = columns(call, "phi.weight"),
                                           .hidden = rows(call, "phi.weight"),
                                           .activation = activation(call, "relu")}),
                             call);
  return weights_and(
      "context",
      module.forward(call.need("encoder"), call.need("queries"), call.in("valid_lens"), kBoth),
      module.named_parameters());
}

MechanismResult run_listener(const MechanismCall& call) {
  const auto module = loaded(ListenerLayer({.in = columns(call, "lstm.weight_ih_l0") / 2,
                                            .hidden = columns(call, "lstm.weight_hh_l0")}),
                             call);
  const Listened heard = module.forward(call.need("x"), call.in("valid_lens"));
  return {{{"output", heard.output}, {"lens", heard.lengths}}, module.named_parameters()};
}

MechanismResult run_rush(const MechanismCall& call) {
  const Tensor words = call.need("context_words");
  const auto module =
      loaded(RushAttention(
                 {.source_words = rows(call, "F.weight"),
                  .source_dim = columns(call, "F.weight"),
                  .context_words = rows(call, "G.weight"),
                  .context_dim = columns(call, "G.weight"),
                  .context_length = words.size(1),
                  .reach = call.options.whole("Q", 2),
                  .divisor = choice<SmoothingDivisor>(
                      "attn::nn::RushAttention: divisor", call.options.word("divisor", "Q"),
                      {{"Q", SmoothingDivisor::reach}, {"count", SmoothingDivisor::count}})}),
             call);
  const auto [weights, smoothed, context] =
      module.forward(call.need("src"), words, call.in("valid_lens"));
  return {{{"weights", weights}, {"smoothed", smoothed}, {"context", context}},
          module.named_parameters()};
}

MechanismResult run_entailment(const MechanismCall& call) {
  const auto module = loaded(WordByWordAttention(rows(call, "W_y.weight")), call);
  const auto [weights, r, h_star] =
      module.forward(call.need("premise"), call.need("hypothesis"), call.in("premise_lens"),
                     call.in("hypothesis_lens"));
  return {{{"weights", weights}, {"r", r}, {"h_star", h_star}}, module.named_parameters()};
}

}  // namespace

std::vector<Mechanism> applied_mechanisms() {
  return {
      {.name = "location_aware",
       .title = "Speech: where the weights were guides where they go",
       .formula = "f = F * a_prev, e_j = w^T tanh(W s + V h_j + U f_j + b)",
       .paper = "Chorowski et al., 2015, arXiv:1506.07503",
       .made_of = "score additive with the convolved weights in the keys, mask lengths, "
                  "normalise softmax or summed sigmoid, pool weighted sum; step after step",
       .options =
           "normaliser: softmax or smooth\nsharpening: factor of the energies before softmax",
       .snippet =
           R"(nn::LocationAwareAttention attention({.encoder_dim = 8, .query_dim = 6, .hidden = 16,
                                      .channels = 3, .width = 5});
Tensor frames = uniform({2, 9, 8}, -1, 1, nn::random());
Tensor states = uniform({2, 4, 6}, -1, 1, nn::random());
Tensor weights = attention.forward(frames, states).weights;)",
       .run = run_location,
       .example =
           speech_example()
               .parameters_of<LocationAwareAttention>(LocationAwareOptions{
                   .encoder_dim = 3, .query_dim = 2, .hidden = 5, .channels = 2, .width = 3})
               .options({{"sharpening", 1.5}})},
      {.name = "las_attention",
       .title = "Listen, Attend and Spell: query and keys pass a layer before they meet",
       .formula = "w = softmax(phi(s) . psi(h)), context = sum w h",
       .paper = kChan,
       .made_of = "score dot of projected query and keys, mask lengths, normalise softmax, "
                  "pool weighted sum",
       .options = "activation: of phi and psi",
       .snippet =
           R"(nn::LasAttention attention({.encoder_dim = 8, .query_dim = 6, .hidden = 16});
Tensor frames = uniform({2, 9, 8}, -1, 1, nn::random());
Tensor states = uniform({2, 4, 6}, -1, 1, nn::random());
Tensor context = attention.forward(frames, states).output;)",
       .run = run_las,
       .example = speech_example()
                      .parameters_of<LasAttention>(
                          LasAttentionOptions{.encoder_dim = 3, .query_dim = 2, .hidden = 5})
                      .options({{"activation", "tanh"}})},
      {.name = "las_listener_layer",
       .title = "One step of the listener's pyramid: half as many frames, twice as wide",
       .formula = "output = BiLSTM([x_{2t}; x_{2t+1}])",
       .paper = kChan,
       .made_of = "no attention: it shortens what las_attention looks at",
       .snippet = R"(nn::ListenerLayer layer({.in = 8, .hidden = 16});
Tensor frames = uniform({2, 9, 8}, -1, 1, nn::random());
nn::Listened heard = layer.forward(frames);)",
       .run = run_listener,
       .example =
           Example()
               .inputs({{"x", {3, 5, 2}}, {"valid_lens", lengths({5, 3, 1})}})
               .parameters_of<ListenerLayer>(ListenerLayerOptions{.in = 2, .hidden = 3})},
      {.name = "rush_summariser_attention",
       .title =
           "Summaries: the last words look for source words, smoothed with their neighbours",
       .formula = "p = softmax(x_i^T P y), smoothed_i = sum_{|q - i| <= Q} x_q / divisor, "
                  "context = sum p_i smoothed_i",
       .paper = "Rush, Chopra, Weston, 2015, arXiv:1509.00685",
       .made_of = "score dot, mask lengths, normalise softmax, pool weighted sum of values "
                  "that are themselves attention with equal scores in a window",
       .options =
           "Q: reach of the smoothing\ndivisor: Q, or count of valid words in the window",
       .snippet =
           R"(nn::RushAttention attention({.source_words = 20, .source_dim = 8, .context_words = 20,
                             .context_dim = 4, .context_length = 3, .reach = 2});
Tensor source = random_integers({2, 7}, 0, 20, nn::random());
Tensor last = random_integers({2, 3}, 0, 20, nn::random());
Tensor context = attention.forward(source, last).context;)",
       .run = run_rush,
       .example =
           Example()
               .inputs({{"src", ids({3, 5}, 6)},
                        {"context_words", ids({3, 2}, 4)},
                        {"valid_lens", lengths({5, 3, 0})}})
               .parameters({{"F.weight", {6, 3}}, {"G.weight", {4, 2}}, {"P.weight", {3, 4}}})
               .options({{"Q", 1.0}, {"divisor", "count"}})},
      {.name = "entailment_word_by_word",
       .title = "Entailment: each word of the hypothesis reads the premise and remembers",
       .formula = "a_t = softmax(w^T tanh(W_y Y + (W_h h_t + W_r r_{t-1}))), r_t = sum a_t Y + "
                  "tanh(W_t r_{t-1}), h* = tanh(W_p r_N + W_x h_N)",
       .paper = "Rocktaeschel et al., 2016, arXiv:1509.06664",
       .made_of = "score additive, mask lengths, normalise softmax, pool weighted sum; word "
                  "after word",
       .snippet = R"(nn::WordByWordAttention reader(8);
Tensor premise = uniform({2, 7, 8}, -1, 1, nn::random());
Tensor hypothesis = uniform({2, 4, 8}, -1, 1, nn::random());
Tensor judged = reader.forward(premise, hypothesis).h_star;)",
       .run = run_entailment,
       .example = Example()
                      .inputs({{"premise", {4, 4, 3}},
                               {"hypothesis", {4, 3, 3}},
                               {"premise_lens", lengths({4, 2, 0, 3})},
                               {"hypothesis_lens", lengths({3, 2, 1, 0})}})
                      .parameters_of<WordByWordAttention>(3)}};
}

}  // namespace attn::nn::adapt
