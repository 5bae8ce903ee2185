// The recurrent attention model's parts, as mechanisms.

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse_network.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse_policy.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/families.hpp"

namespace attn::nn {
namespace {

constexpr const char* kMnih = "Mnih, Heess, Graves, Kavukcuoglu, 2014, arXiv:1406.6247";

Mechanism retina() {
  return {
      .name = "glimpse",
      .family = "glimpse",
      .title = "The retina: sharp where it looks, coarse around",
      .formula =
          "c = floor((l + 1) / 2 size); patch_k = the square of side g scale^k around c, "
          "averaged down to g by g",
      .paper = kMnih,
      .made_of = "outside the four steps: it reads pixels by place, without scores",
      .options =
          "patch_size: g\n"
          "num_scales: how many patches\n"
          "scale: how much wider each is than the one before",
      .snippet = R"(Tensor image = uniform({2, 1, 28, 28}, 0, 1, nn::random());
Tensor place = uniform({2, 2}, -1, 1, nn::random());
Tensor patches =
    nn::glimpse(image, place, {.patch_size = 4, .num_scales = 3, .scale = 2});)",
      .header = "attn/nn/mechanisms/glimpse/glimpse.hpp",
      .run =
          [](const Given& given) {
            const GlimpseOptions options{.patch_size = given.options.whole("patch_size", 8),
                                         .num_scales = given.options.whole("num_scales", 1),
                                         .scale = given.options.whole("scale", 2)};
            const Tensor patches =
                glimpse(given.need("image"), given.need("location"), options);
            return Made{{{"patches", patches}}, {}};
          },
      .example =
          [](Random& random) {
            Given given;
            given.inputs["image"] = adapt::real(random, {2, 2, 7, 5});
            given.inputs["location"] = uniform({2, 2}, -1.0, 1.0, random, DType::f64);
            given.options = {{"patch_size", 3.0}, {"num_scales", 2.0}, {"scale", 2.0}};
            return given;
          },
      .constants = {"location"},
  };
}

Made run_network(const Given& given) {
  const auto module = adapt::loaded(
      GlimpseNetwork({.glimpse_dim = adapt::columns(given, "glimpse_hidden.weight"),
                      .glimpse_hidden = adapt::rows(given, "glimpse_hidden.weight"),
                      .location_hidden = adapt::rows(given, "location_hidden.weight"),
                      .out_dim = adapt::rows(given, "glimpse_out.weight")}),
      given);
  return {{{"g", module.forward(given.need("glimpse"), given.need("location"))}},
          module.named_parameters()};
}

Mechanism network() {
  return {
      .name = "glimpse_network",
      .family = "glimpse",
      .title = "The glimpse network: what was seen and where, in one vector",
      .formula =
          "g = relu(glimpse_out(relu(glimpse_hidden rho)) + "
          "location_out(relu(location_hidden l)))",
      .paper = kMnih,
      .made_of = "outside the four steps: linear maps of one glimpse",
      .options = "",
      .snippet = R"(nn::GlimpseNetwork network({.glimpse_dim = 48, .glimpse_hidden = 16,
                            .location_hidden = 8, .out_dim = 12});
Tensor patches = uniform({2, 48}, 0, 1, nn::random());
Tensor place = uniform({2, 2}, -1, 1, nn::random());
Tensor seen = network.forward(patches, place);)",
      .header = "attn/nn/mechanisms/glimpse/glimpse_network.hpp",
      .run = run_network,
      .example =
          [](Random& random) {
            Given given;
            given.inputs["glimpse"] = adapt::real(random, {3, 5});
            given.inputs["location"] = adapt::real(random, {3, 2});
            const auto layer = [&](const std::string& name, std::int64_t out, std::int64_t in) {
              given.parameters[name + ".weight"] = adapt::real(random, {out, in});
              given.parameters[name + ".bias"] = adapt::real(random, {out});
            };
            layer("glimpse_hidden", 4, 5);
            layer("location_hidden", 3, 2);
            layer("glimpse_out", 6, 4);
            layer("location_out", 6, 3);
            return given;
          },
  };
}

Made run_policy(const Given& given) {
  const auto module =
      adapt::loaded(GlimpsePolicy({.hidden_dim = adapt::columns(given, "location.weight"),
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

Mechanism policy() {
  return {
      .name = "glimpse_policy",
      .family = "glimpse",
      .title = "Where to look next, learnt from the reward",
      .formula =
          "mean = tanh(location h), log_prob = log N(sample; mean, sigma^2), b_t = baseline h; "
          "loss = -mean sum_t log_prob stop(R - b_t), and mean sum_t (R - b_t)^2",
      .paper = kMnih,
      .made_of = "outside the four steps: a place is drawn, not weighed",
      .options =
          "sigma: the width of the Gaussian\n"
          "detach_state: whether the state is left without gradient; true is usual",
      .snippet = R"(nn::GlimpsePolicy policy({.hidden_dim = 8, .sigma = 0.2});
Tensor hidden = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor places = policy.draw(hidden, nn::random());
Tensor reward = Tensor::full({2}, 1.0);
Tensor loss = policy.forward(hidden, places, reward).reinforce_loss;)",
      .header = "attn/nn/mechanisms/glimpse/glimpse_policy.hpp",
      .run = run_policy,
      .example =
          [](Random& random) {
            Given given;
            given.inputs["hidden"] = adapt::real(random, {3, 2, 4});
            given.inputs["sample"] = adapt::real(random, {3, 2, 2});
            given.inputs["reward"] = adapt::real(random, {3});
            given.parameters["location.weight"] = adapt::real(random, {2, 4});
            given.parameters["location.bias"] = adapt::real(random, {2});
            given.parameters["baseline.weight"] = adapt::real(random, {1, 4});
            given.parameters["baseline.bias"] = adapt::real(random, {1});
            given.options = {{"sigma", 0.5}, {"detach_state", false}};
            return given;
          },
      // reinforce_loss stops the gradient at the baseline, which differences would not.
      .constants = {"hidden", "sample", "reward", "baseline.weight", "baseline.bias"},
  };
}

}  // namespace

std::vector<Mechanism> glimpse_mechanisms() {
  return {retina(), network(), policy()};
}

}  // namespace attn::nn
