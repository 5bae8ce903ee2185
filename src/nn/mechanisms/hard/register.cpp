// Hard attention and its soft sibling, as mechanisms.

#include <vector>

#include "attn/nn/mechanisms/hard/doubly_stochastic.hpp"
#include "attn/nn/mechanisms/hard/hard_attention.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

constexpr const char* kXu = "Xu et al., 2015, arXiv:1502.03044";

Made run_sample(const Given& given) {
  const HardLook look = hard_attention(given.need("scores"), given.need("annotations"),
                                       given.need("sample"), given.in("valid_lens"));
  return {{{"alpha", look.alpha},
           {"context", look.context},
           {"expected_context", look.expected_context},
           {"log_prob", look.log_prob},
           {"entropy", look.entropy}},
          {}};
}

Made run_reinforce(const Given& given) {
  const Options& options = given.options;
  const Reinforced made = reinforce({.scores = given.need("scores"),
                                     .sample = given.need("sample"),
                                     .log_py = given.need("log_py"),
                                     .baseline = given.need("baseline"),
                                     .lengths = given.in("valid_lens"),
                                     .target_lens = given.in("target_lens"),
                                     .use_soft = given.in("use_soft")},
                                    {.lambda_r = options.number("lambda_r", 1.0),
                                     .lambda_e = options.number("lambda_e", 0.01),
                                     .decay = options.number("decay", 0.9)});
  return {{{"surrogate", made.surrogate}, {"new_baseline", made.new_baseline}}, {}};
}

Made run_argmax(const Given& given) {
  const HardBest best = hard_attention_best(given.need("scores"), given.need("annotations"),
                                            given.in("valid_lens"));
  return {{{"alpha", best.alpha}, {"index", best.index}, {"context", best.context}}, {}};
}

Made run_hard(const Given& given) {
  return choice<Made (*)(const Given&)>(
      "attn::nn: hard attention in mode", given.options.word("mode", "sample"),
      {{"sample", run_sample}, {"reinforce", run_reinforce}, {"argmax", run_argmax}})(given);
}

Made run_doubly(const Given& given) {
  const auto module = loaded(DoublyStochasticAttention(columns(given, "f_beta.weight")), given);
  const auto made = module.forward({.scores = given.need("scores"),
                                    .annotations = given.need("annotations"),
                                    .hidden = given.need("hidden"),
                                    .lengths = given.in("valid_lens"),
                                    .target_lens = given.in("target_lens")});
  return {{{"alpha", made.alpha},
           {"beta", made.beta},
           {"context", made.context},
           {"regulariser", made.regulariser}},
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
