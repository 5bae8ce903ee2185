// Positions added to features, as mechanisms; those inside the attention are in
// register_relative.cpp.

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/position/learned_position.hpp"
#include "attn/nn/position/rotary.hpp"
#include "attn/nn/position/sinusoidal_encoding.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/families.hpp"
#include "nn/mechanisms/position/register_relative.hpp"

namespace attn::nn {
namespace {

SinusoidalOptions sinusoidal_options(const Options& options) {
  const std::string layout = options.word("layout", "interleaved");
  if (layout != "interleaved" && layout != "halves")
    fail("attn::nn::sinusoidal_encoding: layout '", layout,
         "'; interleaved and halves are accepted");
  return {
      .offset = options.whole("offset", 0),
      .layout = layout == "halves" ? SinusoidalLayout::halves : SinusoidalLayout::interleaved};
}

Mechanism sinusoidal() {
  return {
      .name = "sinusoidal_encoding",
      .family = "position",
      .title = "Sines and cosines of the position, added to the features",
      .formula =
          "out = x + P, P(i, 2j) = sin(i / 10000^(2j/d)), "
          "P(i, 2j+1) = cos(i / 10000^(2j/d))",
      .paper = "Vaswani et al., 2017, arXiv:1706.03762",
      .made_of = "outside: added to the inputs before the score",
      .options =
          "offset: the first position\nlayout: interleaved, or halves (all sines, "
          "then all cosines)",
      .snippet = R"(nn::seed(1);
Tensor x = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor placed = nn::sinusoidal_encoding(x);
Tensor table = nn::sinusoidal_table(5, 8);)",
      .header = "attn/nn/position/sinusoidal_encoding.hpp",
      .run =
          [](const Given& given) {
            const Tensor x = given.need("x");
            const SinusoidalOptions options = sinusoidal_options(given.options);
            return Made{
                {{"output", sinusoidal_encoding(x, options)},
                 {"table", sinusoidal_table(x.size(-2), x.size(-1), options, x.dtype())}},
                {}};
          },
      .example =
          [](Random& random) {
            Given given;
            given.inputs["x"] = adapt::real(random, {2, 3, 5});
            given.options = {{"offset", 2.0}};
            return given;
          },
  };
}

Mechanism learned() {
  return {
      .name = "learned_position",
      .family = "position",
      .title = "A learnt vector for each position, added to the features",
      .formula = "out = x + P[offset : offset + T]",
      .paper = "Gehring et al., 2017, arXiv:1705.03122",
      .made_of = "outside: added to the inputs before the score",
      .options = "offset: the first position",
      .snippet = R"(nn::LearnedPosition position({.max_positions = 100, .dim = 8});
Tensor x = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor placed = position(x);)",
      .header = "attn/nn/position/learned_position.hpp",
      .run =
          [](const Given& given) {
            const auto module =
                adapt::loaded(LearnedPosition({.max_positions = adapt::rows(given, "P.weight"),
                                               .dim = adapt::columns(given, "P.weight")}),
                              given);
            return Made{{{"output", module(given.need("x"), given.options.whole("offset", 0))}},
                        module.named_parameters()};
          },
      .example =
          [](Random& random) {
            Given given;
            given.inputs["x"] = adapt::real(random, {2, 3, 5});
            given.parameters["P.weight"] = adapt::real(random, {7, 5});
            given.options = {{"offset", 2.0}};
            return given;
          },
  };
}

Made run_rotary(const Given& given) {
  const Options& options = given.options;
  const bool interleaved = options.flag("interleaved", false);
  const RotaryOptions turns{
      .base = options.number("base", 10000.0),
      .rotary_dim = options.whole("rotary_dim", -1),
      .pairs = interleaved ? RotaryPairs::interleaved : RotaryPairs::halves};
  const Tensor queries = given.need("queries");
  const Tensor keys = given.need("keys");
  const Tensor positions = given.in("positions");
  const Rotated turned = positions.defined()
                             ? rotate(queries, keys, positions, turns)
                             : rotate(queries, keys, options.whole("offset", 0), turns);
  return {{{"queries", turned.queries}, {"keys", turned.keys}}, {}};
}

Mechanism rotary_positions() {
  return {
      .name = "rotary",
      .family = "position",
      .title = "Rotary positions: pairs of features turn with the position",
      .formula =
          "(u, w) -> (u cos a - w sin a, u sin a + w cos a), "
          "a = pos base^(-2i / rotary_dim)",
      .paper = "Su et al., 2021, arXiv:2104.09864",
      .made_of = "outside: queries and keys turn before the score dot",
      .options =
          "base: of the rates\ninterleaved: pairs (2i, 2i+1) instead of "
          "(i, i + rotary_dim / 2)\nrotary_dim: features that turn; all unless given\n"
          "offset: the first position, where no positions are given",
      .snippet = R"(nn::seed(1);
Tensor q = uniform({2, 4, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 2, 5, 8}, -1, 1, nn::random());
nn::Rotated turned = nn::rotate(q, k);)",
      .header = "attn/nn/position/rotary.hpp",
      .run = run_rotary,
      .example =
          [](Random& random) {
            Given given;
            given.inputs["queries"] = adapt::real(random, {2, 2, 3, 7});
            given.inputs["keys"] = adapt::real(random, {2, 1, 3, 7});
            given.inputs["positions"] =
                Tensor::from(std::vector<std::int64_t>{4, 0, 9, 2, 2, 11}, {2, 3});
            given.options = {{"base", 100.0}, {"interleaved", true}, {"rotary_dim", 6.0}};
            return given;
          },
  };
}

}  // namespace

std::vector<Mechanism> position_mechanisms() {
  return {sinusoidal(),     learned(),      rotary_positions(), shaw_mechanism(),
          skew_mechanism(), t5_mechanism(), alibi_mechanism()};
}

}  // namespace attn::nn
