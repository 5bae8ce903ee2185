// The local attentions, as mechanisms.

#include <vector>

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/nn/mechanisms/local/local_monotonic.hpp"
#include "attn/nn/mechanisms/local/local_predictive.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

constexpr const char* kPaper = "Luong, Pham, Manning, 2015, arXiv:1508.04025";

LocalScoreOptions score_of(const MechanismCall& call) {
  const auto score =
      choice<LuongScore>("attn::nn: score", call.options.word("score", "dot"),
                         {{"dot", LuongScore::dot}, {"general", LuongScore::general}});
  if (score == LuongScore::dot) return {};
  return {.score = score,
          .query_dim = rows(call, "W_a.weight"),
          .key_dim = columns(call, "W_a.weight")};
}

Fade fade_of(const MechanismCall& call, bool otherwise) {
  return call.options.flag("gaussian", otherwise) ? Fade::gaussian : Fade::none;
}

/// Seven keys, so that windows are clipped at both ends and one row has none.
Example local_example() {
  return Example()
      .inputs({{"queries", {3, 4, 3}},
               {"keys", {3, 7, 2}},
               {"values", {3, 7, 3}},
               {"valid_lens", lengths({7, 2, 0})}})
      .parameters({{"W_a.weight", {3, 2}}})
      .options({{"D", 2.0}, {"score", "general"}, {"gaussian", true}});
}

MechanismResult run_monotonic(const MechanismCall& call) {
  const auto module =
      loaded(LocalMonotonicAttention({.window = call.options.whole("D", 2),
                                      .score = score_of(call),
                                      .fade = fade_of(call, false),
                                      .offset = call.options.whole("offset", 0)}),
             call);
  return weights_and("context",
                     module.forward(call.need("queries"), call.need("keys"),
                                    call.need("values"), call.in("valid_lens"), kBoth),
                     module.named_parameters());
}

MechanismResult run_predictive(const MechanismCall& call) {
  const auto module = loaded(LocalPredictiveAttention({.query_dim = columns(call, "W_p.weight"),
                                                       .hidden_dim = rows(call, "W_p.weight"),
                                                       .window = call.options.whole("D", 2),
                                                       .score = score_of(call),
                                                       .fade = fade_of(call, true)}),
                             call);
  const LocalPredicted predicted =
      module.forward(call.need("queries"), call.need("keys"), call.need("values"),
                     call.in("valid_lens"), kBoth);
  MechanismResult result = weights_and("context", predicted.result, module.named_parameters());
  result.outputs.push_back({"p", predicted.centre});
  return result;
}

}  // namespace

std::vector<Mechanism> local_mechanisms() {
  return {
      {.name = "local_monotonic",
       .title = "Local-m: a window that moves on one place a step",
       .formula = "p_t = t + offset, w = softmax(score) over |s - p_t| <= D, context = w v",
       .paper = kPaper,
       .made_of = "score dot or general, mask window and lengths, normalise softmax (times a "
                  "Gaussian if asked), pool weighted sum",
       .options = "D: how far the window reaches on either side\n"
                  "score: dot or general\n"
                  "gaussian: whether weights fade towards the ends; false in the paper\n"
                  "offset: added to every centre, 0 if left out",
       .snippet = R"(nn::LocalMonotonicAttention attention({.window = 2});
Tensor q = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 9, 8}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
       .run = run_monotonic,
       .example = local_example()},
      {.name = "local_predictive",
       .title = "Local-p: each query predicts where its window is",
       .formula = "p = len sigmoid(v_p . tanh(W_p q)), w_s = softmax(score)_s over |s - p| <= "
                  "D times exp(-(s - p)^2 / (2 sigma^2)), sigma = D / 2",
       .paper = kPaper,
       .made_of = "score dot or general, mask around p and lengths, normalise softmax times a "
                  "local Gaussian, pool weighted sum",
       .options = "D: how far the window reaches on either side\n"
                  "score: dot or general\n"
                  "gaussian: whether weights fade towards the ends; true in the paper",
       .snippet =
           R"(nn::LocalPredictiveAttention attention({.query_dim = 8, .hidden_dim = 6, .window = 2});
Tensor q = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 9, 8}, -1, 1, nn::random());
nn::LocalPredicted predicted = attention.forward(q, k, k);
Tensor context = predicted.result.output, place = predicted.centre;)",
       .run = run_predictive,
       .example = local_example().parameters({{"W_p.weight", {4, 3}}, {"v_p", {4}}})}};
}

}  // namespace attn::nn::adapt
