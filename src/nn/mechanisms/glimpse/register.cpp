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

Made run_retina(const Given& given) {
  const GlimpseOptions options{.patch_size = given.options.whole("patch_size", 8),
                               .num_scales = given.options.whole("num_scales", 1),
                               .scale = given.options.whole("scale", 2)};
  const Tensor patches = glimpse(given.need("image"), given.need("location"), options);
  return {{{"patches", patches}}, {}};
}

Made run_network(const Given& given) {
  const auto module =
      loaded(GlimpseNetwork({.glimpse_dim = columns(given, "glimpse_hidden.weight"),
                             .glimpse_hidden = rows(given, "glimpse_hidden.weight"),
                             .location_hidden = rows(given, "location_hidden.weight"),
                             .out_dim = rows(given, "glimpse_out.weight")}),
             given);
  return {{{"g", module.forward(given.need("glimpse"), given.need("location"))}},
          module.named_parameters()};
}

Made run_policy(const Given& given) {
  const auto module =
      loaded(GlimpsePolicy({.hidden_dim = columns(given, "location.weight"),
                            .sigma = given.options.number("sigma", 0.2),
                            .state_gradient = given.options.flag("detach_state", true)
                                                  ? StateGradient::off
                                                  : StateGradient::on}),
             given);
  const GlimpsePolicyResult made =
      module.forward(given.need("hidden"), given.need("sample"), given.need("reward"));
  return {{{"mean", made.mean},
           {"log_prob", made.log_prob},
           {"baseline", made.baseline},
           {"reinforce_loss", made.reinforce_loss},
           {"baseline_loss", made.baseline_loss}},
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
