// The non-local block, as a mechanism.

#include <cstdint>
#include <string>

#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/vision/non_local_block.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/vision/mechanisms.hpp"

namespace attn::nn::vision {
namespace {

NonLocalMode mode_of(const Given& given) {
  const std::string mode = given.options.word("mode", "embedded_gaussian");
  if (mode == "gaussian") return NonLocalMode::gaussian;
  if (mode == "embedded_gaussian") return NonLocalMode::embedded_gaussian;
  if (mode == "dot") return NonLocalMode::dot;
  if (mode == "concat") return NonLocalMode::concat;
  fail("attn::nn: non-local mode '", mode,
       "'; gaussian, embedded_gaussian, dot and concat are accepted");
}

Made run(const Given& given) {
  const auto block =
      adapt::loaded(NonLocalBlock({.channels = adapt::columns(given, "g.weight"),
                                   .inner = adapt::rows(given, "g.weight"),
                                   .grid_rank = given.need("x").rank() - 2,
                                   .mode = mode_of(given),
                                   .pool = given.options.flag("pool", false) ? GridPool::by_two
                                                                             : GridPool::none}),
                    given);
  const NonLocalResult made = block.forward(given.need("x"), Want::output | Want::weights);
  return {{{"weights", made.weights}, {"y", made.y}, {"z", made.z}}, block.named_parameters()};
}

Given example(Random& random) {
  Given given;
  given.inputs["x"] = adapt::real(random, {2, 3, 4, 5});
  const auto map = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    given.parameters[name + ".weight"] = adapt::real(random, {out, in, 1, 1}) * 0.5;
    given.parameters[name + ".bias"] = adapt::real(random, {out}) * 0.5;
  };
  map("theta", 2, 3);
  map("phi", 2, 3);
  map("g", 2, 3);
  map("W_z", 3, 2);
  given.options = {{"mode", std::string("embedded_gaussian")}, {"pool", true}};
  return given;
}

}  // namespace

Mechanism non_local_block() {
  return {
      .name = "non_local_block",
      .family = "vision",
      .title = "The non-local block: every cell of a grid looks at every other",
      .formula = "y_i = (1 / C) sum_j f(x_i, x_j) g(x_j), z = W_z y + x",
      .paper = "Wang, Girshick, Gupta, He, 2018, arXiv:1711.07971",
      .made_of =
          "score dot (concat: given), no mask, normalise softmax or mean, pool weighted "
          "sum",
      .options =
          "mode: gaussian, embedded_gaussian, dot or concat\n"
          "pool: whether keys and values are max-pooled by 2 in every direction",
      .snippet = R"(nn::NonLocalBlock block({.channels = 6, .inner = 3, .grid_rank = 2});
Tensor x = uniform({2, 6, 4, 4}, -1, 1, nn::random());
nn::NonLocalResult made = block.forward(x, Want::output | Want::weights);)",
      .header = "attn/nn/mechanisms/vision/non_local_block.hpp",
      .run = run,
      .example = example,
  };
}

}  // namespace attn::nn::vision
