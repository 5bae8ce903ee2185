#include "nn/mechanisms/position/register_relative.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attn/nn/module.hpp"
#include "attn/nn/position/alibi.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/nn/position/relative_skew.hpp"
#include "attn/nn/position/t5_bias.hpp"
#include "attn/nn/registry.hpp"
#include "attn/score/t5_buckets.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn {
namespace {

spec::Offset offset_of(const Given& given) {
  if (!given.options.has("query_offset")) return {};
  return given.options.whole("query_offset", 0);
}

/// Causal, if asked for, and lengths.
Keep keep_of(const Given& given) {
  const Keep lengths = adapt::keep_lengths(given);
  return given.options.flag("causal", false) ? spec::causal(offset_of(given)) && lengths
                                             : lengths;
}

Given heads_example(Random& random, std::int64_t queries) {
  Given given;
  given.inputs["queries"] = adapt::real(random, {2, 2, queries, 3});
  given.inputs["keys"] = adapt::real(random, {2, 2, 5, 3});
  given.inputs["values"] = adapt::real(random, {2, 2, 5, 4});
  given.inputs["valid_lens"] = adapt::lengths({4, 0});
  given.options = {{"causal", true}};
  return given;
}

Made made_of(std::vector<NamedTensor> before, const Attended& looked,
             std::vector<NamedTensor> parameters) {
  before.push_back({"weights", looked.weights});
  before.push_back({"output", looked.output});
  return {std::move(before), std::move(parameters)};
}

Made run_shaw(const Given& given) {
  const bool keys = given.has_parameter("rel_k");
  const bool values = given.has_parameter("rel_v");
  const std::int64_t reach =
      given.options.whole("max_distance", keys     ? adapt::rows(given, "rel_k") / 2
                                          : values ? adapt::rows(given, "rel_v") / 2
                                                   : 0);
  const auto module =
      adapt::loaded(RelativeShaw({.key_dim = keys ? adapt::columns(given, "rel_k") : 0,
                                  .value_dim = values ? adapt::columns(given, "rel_v") : 0,
                                  .max_distance = reach,
                                  .query_offset = offset_of(given)}),
                    given);
  return made_of({},
                 module.forward(given.need("queries"), given.need("keys"), given.need("values"),
                                keep_of(given), adapt::kBoth),
                 module.named_parameters());
}

Made run_skew(const Given& given) {
  const Tensor queries = given.need("queries");
  const bool per_head = given.options.flag("per_head", given.parameter("E_r").rank() == 3);
  const bool causal = given.options.flag("causal", false);
  const auto module = adapt::loaded(RelativeSkew({.length = queries.size(2),
                                                  .dim = queries.size(3),
                                                  .heads = per_head ? queries.size(1) : 0,
                                                  .reach = causal ? Reach::past : Reach::both}),
                                    given);
  const auto made = module.forward(queries, given.need("keys"), given.need("values"),
                                   adapt::keep_lengths(given), adapt::kBoth);
  return made_of({{"s_rel", made.s_rel}}, made.attended, module.named_parameters());
}

Made run_t5(const Given& given) {
  const Options& options = given.options;
  const std::string weight = "relative_attention_bias.weight";
  const bool both = options.flag("bidirectional", true);
  const auto module = adapt::loaded(
      T5Bias({.heads = adapt::columns(given, weight),
              .buckets = options.whole("num_buckets", adapt::rows(given, weight)),
              .max_distance = options.whole("max_distance", 128),
              .direction = both ? score::T5Direction::both : score::T5Direction::past,
              .query_offset = offset_of(given),
              .scale = options.number("scale", 1.0)}),
      given);
  const Tensor queries = given.need("queries");
  const Tensor keys = given.need("keys");
  const auto looked =
      module.forward(queries, keys, given.need("values"), keep_of(given), adapt::kBoth);
  return made_of({{"buckets", module.buckets(queries.size(2), keys.size(2))},
                  {"bias", module.bias(queries.size(2), keys.size(2))}},
                 looked, module.named_parameters());
}

Made run_alibi(const Given& given) {
  const Tensor queries = given.need("queries");
  return made_of({{"slopes", alibi_slopes(queries.size(1), queries.dtype())}},
                 alibi_attention(queries, given.need("keys"), given.need("values"),
                                 keep_of(given), adapt::kBoth, offset_of(given)),
                 {});
}

}  // namespace

Mechanism shaw_mechanism() {
  return {
      .name = "relative_shaw",
      .family = "position",
      .title = "Shaw's relative positions: distances have keys and values of their own",
      .formula =
          "e_ij = q_i . (k_j + rel_k[c]) / sqrt(d), out_i = sum_j w_ij (v_j + rel_v[c]), "
          "c = clip(j - i, -m, m) + m",
      .paper = "Shaw, Uszkoreit, Vaswani, 2018, arXiv:1803.02155",
      .made_of =
          "score scaled dot with a relative table, mask causal and lengths, normalise "
          "softmax, pool weighted sum and sums by distance",
      .options =
          "max_distance: m\ncausal: only keys up to the query\nquery_offset: where the "
          "first query sits; keys - queries unless given",
      .snippet =
          R"(nn::RelativeShaw attention({.key_dim = 8, .value_dim = 6, .max_distance = 4});
Tensor q = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Tensor v = uniform({2, 3, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, v, spec::causal());)",
      .header = "attn/nn/position/relative_shaw.hpp",
      .run = run_shaw,
      .example =
          [](Random& random) {
            Given given = heads_example(random, 3);
            given.parameters["rel_k"] = adapt::real(random, {5, 3});
            given.parameters["rel_v"] = adapt::real(random, {5, 4});
            given.options.set("max_distance", 2.0);
            return given;
          },
  };
}

Mechanism skew_mechanism() {
  return {
      .name = "relative_skew",
      .family = "position",
      .title = "The Music Transformer's relative positions, placed by a skew",
      .formula = "w = softmax((q k^T + S) / sqrt(d)), S_ij = q_i . E_r[L - 1 - (i - j)]",
      .paper = "Huang et al., 2018, arXiv:1809.04281",
      .made_of =
          "score scaled dot with a bias, mask causal and lengths, normalise softmax, "
          "pool weighted sum",
      .options =
          "causal: only keys up to the query\nper_head: each head has vectors of its "
          "own",
      .snippet = R"(nn::RelativeSkew attention({.length = 5, .dim = 8, .heads = 3});
Tensor q = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 3, 5, 8}, -1, 1, nn::random());
nn::RelativeSkew::Result made = attention.forward(q, k, k);)",
      .header = "attn/nn/position/relative_skew.hpp",
      .run = run_skew,
      .example =
          [](Random& random) {
            Given given = heads_example(random, 5);
            given.parameters["E_r"] = adapt::real(random, {2, 5, 3});
            given.options.set("per_head", true);
            return given;
          },
  };
}

Mechanism t5_mechanism() {
  return {
      .name = "t5_bias",
      .family = "position",
      .title = "T5's bias: a learnt number for each head and bucket of distances",
      .formula = "w = softmax(scale q k^T + bias[bucket(j - i), head])",
      .paper = "Raffel et al., 2020, arXiv:1910.10683",
      .made_of =
          "score dot with a bias by bucket, mask causal and lengths, normalise softmax, "
          "pool weighted sum",
      .options =
          "bidirectional: later keys have buckets of their own\nnum_buckets: numbers a "
          "head\nmax_distance: past which all share the last bucket\ncausal: only keys "
          "up to the query\nscale: of q k^T; 1 unless given\nquery_offset: where the "
          "first query sits; keys - queries unless given",
      .snippet = R"(nn::T5Bias attention({.heads = 3, .buckets = 32, .max_distance = 128});
Tensor q = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
      .header = "attn/nn/position/t5_bias.hpp",
      .run = run_t5,
      .example =
          [](Random& random) {
            Given given = heads_example(random, 3);
            given.parameters["relative_attention_bias.weight"] = adapt::real(random, {8, 2});
            given.options = {{"max_distance", 4.0}, {"scale", 0.5}};
            return given;
          },
  };
}

Mechanism alibi_mechanism() {
  return {
      .name = "alibi",
      .family = "position",
      .title = "ALiBi: scores fall with the distance, each head at its own rate",
      .formula = "w = softmax(q k^T / sqrt(d) - m_h |i - j|)",
      .paper = "Press, Smith, Lewis, 2022, arXiv:2108.12409",
      .made_of =
          "score scaled dot with a linear bias, mask causal and lengths, normalise "
          "softmax, pool weighted sum",
      .options =
          "causal: only keys up to the query\nquery_offset: where the first query sits; "
          "keys - queries unless given",
      .snippet = R"(nn::seed(1);
Tensor q = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Attended looked = nn::alibi_attention(q, k, k, spec::causal());)",
      .header = "attn/nn/position/alibi.hpp",
      .run = run_alibi,
      .example = [](Random& random) { return heads_example(random, 3); },
  };
}

}  // namespace attn::nn
