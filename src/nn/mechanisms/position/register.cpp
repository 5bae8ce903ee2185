// Positions, added to features or inside the attention, as mechanisms.

#include <cstdint>
#include <string>
#include <vector>

#include "attn/nn/module.hpp"
#include "attn/nn/position/alibi.hpp"
#include "attn/nn/position/learned_position.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/nn/position/relative_skew.hpp"
#include "attn/nn/position/rotary.hpp"
#include "attn/nn/position/sinusoidal_encoding.hpp"
#include "attn/nn/position/t5_bias.hpp"
#include "attn/score/t5_buckets.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

MechanismResult run_sinusoidal(const MechanismCall& call) {
  const Tensor x = call.need("x");
  const SinusoidalOptions options{
      .offset = call.options.whole("offset", 0),
      .layout = choice<SinusoidalLayout>("attn::nn::sinusoidal_encoding: layout",
                                         call.options.word("layout", "interleaved"),
                                         {{"interleaved", SinusoidalLayout::interleaved},
                                          {"halves", SinusoidalLayout::halves}})};
  return {{{"output", sinusoidal_encoding(x, options)},
           {"table", sinusoidal_table(x.size(-2), x.size(-1), options, x.dtype())}},
          {}};
}

MechanismResult run_learned(const MechanismCall& call) {
  const auto module = loaded(LearnedPosition({.max_positions = rows(call, "P.weight"),
                                              .dim = columns(call, "P.weight")}),
                             call);
  return {{{"output", module(call.need("x"), call.options.whole("offset", 0))}},
          module.named_parameters()};
}

MechanismResult run_rotary(const MechanismCall& call) {
  const Options& options = call.options;
  const bool interleaved = options.flag("interleaved", false);
  const RotaryOptions turns{
      .base = options.number("base", 10000.0),
      .rotary_dim = options.whole("rotary_dim", -1),
      .pairs = interleaved ? RotaryPairs::interleaved : RotaryPairs::halves};
  const Tensor queries = call.need("queries");
  const Tensor keys = call.need("keys");
  const Tensor positions = call.in("positions");
  const Rotated turned = positions.defined()
                             ? rotate(queries, keys, positions, turns)
                             : rotate(queries, keys, options.whole("offset", 0), turns);
  return {{{"queries", turned.queries}, {"keys", turned.keys}}, {}};
}

spec::Offset offset_of(const MechanismCall& call) {
  if (!call.options.has("query_offset")) return {};
  return call.options.whole("query_offset", 0);
}

/// Causal, if asked for, and lengths.
Mask keep_of(const MechanismCall& call) {
  const Mask lengths = keep_lengths(call);
  return call.options.flag("causal", false) ? spec::causal(offset_of(call)) && lengths
                                            : lengths;
}

Example heads_example(std::int64_t queries) {
  return Example().inputs({{"queries", {2, 2, queries, 3}},
                           {"keys", {2, 2, 5, 3}},
                           {"values", {2, 2, 5, 4}},
                           {"valid_lens", lengths({4, 0})}});
}

MechanismResult with(std::vector<NamedTensor> more, MechanismResult result) {
  result.outputs.insert(result.outputs.end(), more.begin(), more.end());
  return result;
}

MechanismResult run_shaw(const MechanismCall& call) {
  const bool keys = call.has_parameter("rel_k");
  const bool values = call.has_parameter("rel_v");
  const std::int64_t reach =
      call.options.whole("max_distance", keys     ? rows(call, "rel_k") / 2
                                         : values ? rows(call, "rel_v") / 2
                                                  : 0);
  const auto module = loaded(RelativeShaw({.key_dim = keys ? columns(call, "rel_k") : 0,
                                           .value_dim = values ? columns(call, "rel_v") : 0,
                                           .max_distance = reach,
                                           .query_offset = offset_of(call)}),
                             call);
  return weights_and("output",
                     module.forward(call.need("queries"), call.need("keys"),
                                    call.need("values"), keep_of(call), kBoth),
                     module.named_parameters());
}

MechanismResult run_skew(const MechanismCall& call) {
  const Tensor queries = call.need("queries");
  const bool per_head = call.options.flag("per_head", call.parameter("E_r").rank() == 3);
  const bool causal = call.options.flag("causal", false);
  const auto module = loaded(RelativeSkew({.length = queries.size(2),
                                           .dim = queries.size(3),
                                           .heads = per_head ? queries.size(1) : 0,
                                           .reach = causal ? Reach::past : Reach::both}),
                             call);
  const auto result = attend_case(module, call);
  return with({{"s_rel", result.s_rel}},
              weights_and("output", result.attended, module.named_parameters()));
}

MechanismResult run_t5(const MechanismCall& call) {
  const Options& options = call.options;
  const std::string weight = "relative_attention_bias.weight";
  const bool both = options.flag("bidirectional", true);
  const auto module =
      loaded(T5Bias({.heads = columns(call, weight),
                     .buckets = options.whole("num_buckets", rows(call, weight)),
                     .max_distance = options.whole("max_distance", 128),
                     .direction = both ? score::T5Direction::both : score::T5Direction::past,
                     .query_offset = offset_of(call),
                     .scale = options.number("scale", 1.0)}),
             call);
  const Tensor queries = call.need("queries");
  const Tensor keys = call.need("keys");
  const auto attended =
      module.forward(queries, keys, call.need("values"), keep_of(call), kBoth);
  return with({{"buckets", module.buckets(queries.size(2), keys.size(2))},
               {"bias", module.bias(queries.size(2), keys.size(2))}},
              weights_and("output", attended, module.named_parameters()));
}

MechanismResult run_alibi(const MechanismCall& call) {
  const Tensor queries = call.need("queries");
  return with(
      {{"slopes", alibi_slopes(queries.size(1), queries.dtype())}},
      weights_and("output", alibi_attention(queries, call.need("keys"), call.need("values"),
                                            keep_of(call), kBoth, offset_of(call))));
}

}  // namespace

std::vector<Mechanism> position_mechanisms() {
  return {
      {.name = "sinusoidal_encoding",
       .title = "Sines and cosines of the position, added to the features",
       .formula =
           "out = x + P, P(i, 2j) = sin(i / 10000^(2j/d)), P(i, 2j+1) = cos(i / 10000^(2j/d))",
       .paper = "Vaswani et al., 2017, arXiv:1706.03762",
       .made_of = "outside: added to the inputs before the score",
       .options = "offset: the first position\nlayout: interleaved, or halves (all sines, then "
                  "all cosines)",
       .snippet = R"(nn::seed(1);
Tensor x = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor placed = nn::sinusoidal_encoding(x);
Tensor table = nn::sinusoidal_table(5, 8);)",
       .run = run_sinusoidal,
       .example = Example().inputs({{"x", {2, 3, 5}}}).options({{"offset", 2.0}})},
      {.name = "learned_position",
       .title = "A learnt vector for each position, added to the features",
       .formula = "out = x + P[offset : offset + T]",
       .paper = "Gehring et al., 2017, arXiv:1705.03122",
       .made_of = "outside: added to the inputs before the score",
       .options = "offset: the first position",
       .snippet = R"(nn::LearnedPosition position({.max_positions = 100, .dim = 8});
Tensor x = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor placed = position(x);)",
       .run = run_learned,
       .example = Example()
                      .inputs({{"x", {2, 3, 5}}})
                      .parameters({{"P.weight", {7, 5}}})
                      .options({{"offset", 2.0}})},
      {.name = "rotary",
       .title = "Rotary positions: pairs of features turn with the position",
       .formula =
           "(u, w) -> (u cos a - w sin a, u sin a + w cos a), a = pos base^(-2i / rotary_dim)",
       .paper = "Su et al., 2021, arXiv:2104.09864",
       .made_of = "outside: queries and keys turn before the score dot",
       .options = "base: of the rates\ninterleaved: pairs (2i, 2i+1) instead of (i, i + "
                  "rotary_dim / 2)\nrotary_dim: features that turn; all unless given\n"
                  "offset: the first position, where no positions are given",
       .snippet = R"(nn::seed(1);
Tensor q = uniform({2, 4, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 2, 5, 8}, -1, 1, nn::random());
nn::Rotated turned = nn::rotate(q, k);)",
       .run = run_rotary,
       .example = Example()
                      .inputs({{"queries", {2, 2, 3, 7}},
                               {"keys", {2, 1, 3, 7}},
                               {"positions", integers({4, 0, 9, 2, 2, 11}, {2, 3})}})
                      .options({{"base", 100.0}, {"interleaved", true}, {"rotary_dim", 6.0}})},
      {.name = "relative_shaw",
       .title = "Shaw's relative positions: distances have keys and values of their own",
       .formula = "e_ij = q_i . (k_j + rel_k[c]) / sqrt(d), out_i = sum_j w_ij (v_j + "
                  "rel_v[c]), c = clip(j - i, -m, m) + m",
       .paper = "Shaw, Uszkoreit, Vaswani, 2018, arXiv:1803.02155",
       .made_of = "score scaled dot with a relative table, mask causal and lengths, normalise "
                  "softmax, pool weighted sum and sums by distance",
       .options = "max_distance: m\ncausal: only keys up to the query\nquery_offset: where the "
                  "first query sits; keys - queries unless given",
       .snippet =
           R"(nn::RelativeShaw attention({.key_dim = 8, .value_dim = 6, .max_distance = 4});
Tensor q = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Tensor v = uniform({2, 3, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, v, spec::causal());)",
       .run = run_shaw,
       .example = heads_example(3)
                      .parameters({{"rel_k", {5, 3}}, {"rel_v", {5, 4}}})
                      .options({{"causal", true}, {"max_distance", 2.0}})},
      {.name = "relative_skew",
       .title = "The Music Transformer's relative positions, placed by a skew",
       .formula = "w = softmax((q k^T + S) / sqrt(d)), S_ij = q_i . E_r[L - 1 - (i - j)]",
       .paper = "Huang et al., 2018, arXiv:1809.04281",
       .made_of = "score scaled dot with a bias, mask causal and lengths, normalise softmax, "
                  "pool weighted sum",
       .options =
           "causal: only keys up to the query\nper_head: each head has vectors of its own",
       .snippet = R"(nn::RelativeSkew attention({.length = 5, .dim = 8, .heads = 3});
Tensor q = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 3, 5, 8}, -1, 1, nn::random());
nn::RelativeSkew::Result made = attention.forward(q, k, k);)",
       .run = run_skew,
       .example = heads_example(5)
                      .parameters({{"E_r", {2, 5, 3}}})
                      .options({{"causal", true}, {"per_head", true}})},
      {.name = "t5_bias",
       .title = "T5's bias: a learnt number for each head and bucket of distances",
       .formula = "w = softmax(scale q k^T + bias[bucket(j - i), head])",
       .paper = "Raffel et al., 2020, arXiv:1910.10683",
       .made_of = "score dot with a bias by bucket, mask causal and lengths, normalise "
                  "softmax, pool weighted sum",
       .options = "bidirectional: later keys have buckets of their own\nnum_buckets: numbers a "
                  "head\nmax_distance: past which all share the last bucket\ncausal: only keys "
                  "up to the query\nscale: of q k^T; 1 unless given\nquery_offset: where the "
                  "first query sits; keys - queries unless given",
       .snippet = R"(nn::T5Bias attention({.heads = 3, .buckets = 32, .max_distance = 128});
Tensor q = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
       .run = run_t5,
       .example = heads_example(3)
                      .parameters({{"relative_attention_bias.weight", {8, 2}}})
                      .options({{"max_distance", 4.0}, {"scale", 0.5}})},
      {.name = "alibi",
       .title = "ALiBi: scores fall with the distance, each head at its own rate",
       .formula = "w = softmax(q k^T / sqrt(d) - m_h |i - j|)",
       .paper = "Press, Smith, Lewis, 2022, arXiv:2108.12409",
       .made_of = "score scaled dot with a linear bias, mask causal and lengths, normalise "
                  "softmax, pool weighted sum",
       .options = "causal: only keys up to the query\nquery_offset: where the first query "
                  "sits; keys - queries unless given",
       .snippet = R"(nn::seed(1);
Tensor q = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 3, 5, 8}, -1, 1, nn::random());
Attended looked = nn::alibi_attention(q, k, k, spec::causal());)",
       .run = run_alibi,
       .example = heads_example(3).options({{"causal", true}})}};
}

}  // namespace attn::nn::adapt
