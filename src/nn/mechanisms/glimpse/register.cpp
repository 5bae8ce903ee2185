// The recurrent attention model's parts, as mechanisms.

#include <vector>

#include "attn/nn/mechanisms/glimpse/glimpse.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse_network.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse_policy.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

constexpr const char* kMnih = "Mnih, Heess, Graves, Kavukcuoglu, 2014, arXiv:1406.6247";

MechanismResult run_retina(const MechanismCall& call) {
  const GlimpseOptions options{.patch_size = call.options.whole("patch_size", 8),
                               .num_scales = call.options.whole("num_scales", 1),
                               .scale = call.options.whole("scale", 2)};
  const Tensor patches = glimpse(call.need("image"), call.need("location"), options);
  return {{{"patches", patches}}, {}};
}

MechanismResult run_network(const MechanismCall& call) {
  const auto module =
      loaded(GlimpseNetwork({.glimpse_dim = columns(call, "glimpse_hidden.weight"),
                             .glimpse_hidden = rows(call, "glimpse_hidden.weight"),
                             .location_hidden = rows(call, "location_hidden.weight"),
                             .out_dim = rows(call, "glimpse_out.weight")}),
             call);
  return {{{"g", module.forward(call.need("glimpse"), call.need("location"))}},
          module.named_parameters()};
}

MechanismResult run_policy(const MechanismCall& call) {
  const auto module =
      loaded(GlimpsePolicy({.hidden_dim = columns(call, "location.weight"),
                            .sigma = call.options.number("sigma", 0.2),
                            .state_gradient = call.options.flag("detach_state", true)
                                                  ? StateGradient::off
                                                  : StateGradient::on}),
             call);
  const GlimpsePolicyResult result =
      module.forward(call.need("hidden"), call.need("sample"), call.need("reward"));
  return {{{"mean", result.mean},
           {"log_prob", result.log_prob},
           {"baseline", result.baseline},
           {"reinforce_loss", result.reinforce_loss},
           {"baseline_loss", result.baseline_loss}},
          module.named_parameters()};
}

}  // namespace

std::vector<Mechanism> glimpse_mechanisms() {
  return {
      {.name = "glimpse",
       .title = "The retina: sharp where it looks, coarse around",
       .formula = "c = floor((l + 1) / 2 size); patch_k = the square of side g scale^k around "
                  "c, averaged down to g by g",
       .paper = kMnih,
       .made_of = "outside the four steps: it reads pixels by place, without scores",
       .options = "patch_size: g\n"
                  "num_scales: how many patches\n"
                  "scale: how much wider each is than the one before",
       .snippet = R"(Tensor image = uniform({2, 1, 28, 28}, 0, 1, nn::random());
Tensor place = uniform({2, 2}, -1, 1, nn::random());
Tensor patches =
    nn::glimpse(image, place, {.patch_size = 4, .num_scales = 3, .scale = 2});)",
       .run = run_retina,
       .example =
           Example()
               .inputs({{"image", {2, 2, 7, 5}}, {"location", between(-1.0, 1.0, {2, 2})}})
               .options({{"patch_size", 3.0}, {"num_scales", 2.0}, {"scale", 2.0}}),
       .constants = {"location"}},
      {.name = "glimpse_network",
       .title = "The glimpse network: what was seen and where, in one vector",
       .formula = "g = relu(glimpse_out(relu(glimpse_hidden rho)) + "
                  "location_out(relu(location_hidden l)))",
       .paper = kMnih,
       .made_of = "outside the four steps: linear maps of one glimpse",
       .snippet = R"(nn::GlimpseNetwork network({.glimpse_dim = 48, .glimpse_hidden = 16,
                            .location_hidden = 8, .out_dim = 12});
Tensor patches = uniform({2, 48}, 0, 1, nn::random());
Tensor place = uniform({2, 2}, -1, 1, nn::random());
Tensor seen = network.forward(patches, place);)",
       .run = run_network,
       .example =
           Example()
               .inputs({{"glimpse", {3, 5}}, {"location", {3, 2}}})
               .parameters_of<GlimpseNetwork>(GlimpseNetworkOptions{
                   .glimpse_dim = 5, .glimpse_hidden = 4, .location_hidden = 3, .out_dim = 6})},
      {.name = "glimpse_policy",
       .title = "Where to look next, learnt from the reward",
       .formula =
           "mean = tanh(location h), log_prob = log N(sample; mean, sigma^2), b_t = baseline "
           "h; loss = -mean sum_t log_prob stop(R - b_t), and mean sum_t (R - b_t)^2",
       .paper = kMnih,
       .made_of = "outside the four steps: a place is drawn, not weighed",
       .options = "sigma: the width of the Gaussian\n"
                  "detach_state: whether the state is left without gradient; true is usual",
       .snippet = R"(nn::GlimpsePolicy policy({.hidden_dim = 8, .sigma = 0.2});
Tensor hidden = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor positions = policy.draw(hidden, nn::random());
Tensor reward = Tensor::full({2}, 1.0);
Tensor loss = policy.forward(hidden, positions, reward).reinforce_loss;)",
       .run = run_policy,
       .example = Example()
                      .inputs({{"hidden", {3, 2, 4}}, {"sample", {3, 2, 2}}, {"reward", {3}}})
                      .parameters_of<GlimpsePolicy>(GlimpsePolicyOptions{.hidden_dim = 4})
                      .options({{"sigma", 0.5}, {"detach_state", false}}),
       // reinforce_loss stops the gradient at the baseline, which differences would not.
       .constants = {"hidden", "sample", "reward", "baseline.weight", "baseline.bias"}}};
}

}  // namespace attn::nn::adapt
