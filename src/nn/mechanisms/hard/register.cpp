// Hard attention and its soft sibling, as mechanisms.

#include <vector>

#include "attn/nn/mechanisms/hard/doubly_stochastic.hpp"
#include "attn/nn/mechanisms/hard/hard_attention.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

constexpr const char* kXu = "Xu et al., 2015, arXiv:1502.03044";

MechanismResult run_sample(const MechanismCall& call) {
  const HardLook look = hard_attention(call.need("scores"), call.need("annotations"),
                                       call.need("sample"), call.in("valid_lens"));
  return {{{"alpha", look.alpha},
           {"context", look.context},
           {"expected_context", look.expected_context},
           {"log_prob", look.log_prob},
           {"entropy", look.entropy}},
          {}};
}

MechanismResult run_reinforce(const MechanismCall& call) {
  const Options& options = call.options;
  const Reinforced result = reinforce({.scores = call.need("scores"),
                                       .sample = call.need("sample"),
                                       .log_py = call.need("log_py"),
                                       .baseline = call.need("baseline"),
                                       .lengths = call.in("valid_lens"),
                                       .target_lens = call.in("target_lens"),
                                       .use_soft = call.in("use_soft")},
                                      {.lambda_r = options.number("lambda_r", 1.0),
                                       .lambda_e = options.number("lambda_e", 0.01),
                                       .decay = options.number("decay", 0.9)});
  return {{{"surrogate", result.surrogate}, {"new_baseline", result.new_baseline}}, {}};
}

MechanismResult run_argmax(const MechanismCall& call) {
  const HardBest best =
      hard_attention_best(call.need("scores"), call.need("annotations"), call.in("valid_lens"));
  return {{{"alpha", best.alpha}, {"index", best.index}, {"context", best.context}}, {}};
}

MechanismResult run_hard(const MechanismCall& call) {
  return choice<MechanismResult (*)(const MechanismCall&)>(
      "attn::nn: hard attention in mode", call.options.word("mode", "sample"),
      {{"sample", run_sample}, {"reinforce", run_reinforce}, {"argmax", run_argmax}})(call);
}

MechanismResult run_doubly(const MechanismCall& call) {
  const auto module = loaded(DoublyStochasticAttention(columns(call, "f_beta.weight")), call);
  const auto result = module.forward({.scores = call.need("scores"),
                                      .annotations = call.need("annotations"),
                                      .hidden = call.need("hidden"),
                                      .lengths = call.in("valid_lens"),
                                      .target_lens = call.in("target_lens")});
  return {{{"alpha", result.alpha},
           {"beta", result.beta},
           {"context", result.context},
           {"regulariser", result.regulariser}},
          module.named_parameters()};
}

}  // namespace

std::vector<Mechanism> hard_mechanisms() {
  return {{.name = "hard_attention",
           .title = "Hard attention: one location, drawn and trained by its reward",
           .formula = "alpha = softmax(scores), s ~ alpha, context = a_s; J = log p(y|s) + "
                      "lambda_r stop(log p(y|s) - b) sum log alpha_s + lambda_e sum H(alpha)",
           .paper = kXu,
           .made_of = "score given, mask lengths, normalise hard sample or hard argmax, pool "
                      "the one chosen; the gradient is REINFORCE with a moving baseline",
           .options = "mode: sample, reinforce or argmax\n"
                      "lambda_r: of the reward\n"
                      "lambda_e: of the entropy\n"
                      "decay: of the moving baseline, 0.9 if left out",
           .snippet = R"(nn::HardAttention attention(Random(1).named("hard"));
Tensor scores = uniform({2, 3, 5}, -1, 1, nn::random());
Tensor annotations = uniform({2, 5, 8}, -1, 1, nn::random());
nn::HardAttention::Step step = attention.forward(scores, annotations);
Tensor log_py = uniform({2}, -3, -1, nn::random());
Tensor loss = attention.loss(step, scores, log_py);)",
           .run = run_hard,
           .example = Example()
                          .inputs({{"scores", {3, 2, 5}},
                                   {"annotations", {3, 5, 3}},
                                   {"valid_lens", lengths({5, 0, 2})},
                                   {"sample", integers({4, 0, -1, -1, 1, 1}, {3, 2})}})
                          .options({{"mode", "sample"}})},
          {.name = "doubly_stochastic",
           .title = "Gated soft attention that asks to have looked everywhere once",
           .formula = "beta = sigmoid(f_beta h), context = beta sum alpha_i a_i, regulariser = "
                      "sum_i (1 - sum_t alpha_ti)^2",
           .paper = kXu,
           .made_of =
               "score given, mask lengths, normalise softmax, pool weighted sum times a gate",
           .snippet = R"(nn::DoublyStochasticAttention attention(6);
Tensor scores = uniform({2, 3, 5}, -1, 1, nn::random());
Tensor annotations = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor hidden = uniform({2, 3, 6}, -1, 1, nn::random());
auto made = attention.forward({.scores = scores, .annotations = annotations, .hidden = hidden});)",
           .run = run_doubly,
           .example = Example()
                          .inputs({{"scores", {3, 3, 5}},
                                   {"annotations", {3, 5, 3}},
                                   {"hidden", {3, 3, 4}},
                                   {"valid_lens", lengths({5, 2, 0})},
                                   {"target_lens", lengths({2, 3, 1})}})
                          .parameters_of<DoublyStochasticAttention>(4)}};
}

}  // namespace attn::nn::adapt
