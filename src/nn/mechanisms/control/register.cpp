// Control and composition, as mechanisms.

#include <cstdint>
#include <vector>

#include "attn/nn/mechanisms/control/forced_attention.hpp"
#include "attn/nn/mechanisms/control/kv_cache_equivalence.hpp"
#include "attn/nn/mechanisms/control/merge_states.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/merge.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

MechanismResult run_forced(const MechanismCall& call) {
  return weights_and("output",
                     forced_attention(call.need("scores"), call.need("values"),
                                      {.prior = call.in("prior"),
                                       .prior_weight = call.options.number("prior_weight", 1.0),
                                       .forced_mask = call.in("forced_mask"),
                                       .forced_weight = call.in("forced_weight")},
                                      keep_lengths(call), kBoth));
}

MechanismResult run_cache(const MechanismCall& call) {
  const Attended attended = attend_in_chunks(call.need("queries"), call.need("keys"),
                                             call.need("values"), call.options.list("chunks"));
  return {{{"output", attended.output}, {"lse", attended.log_sum_exp}}, {}};
}

MechanismResult run_split(const MechanismCall& call) {
  const SplitAttended parts =
      split_attention(call.need("queries"), call.need("keys"), call.need("values"),
                      call.options.whole("split", 0),
                      call.options.flag("causal", false) ? SplitMask::causal : SplitMask::none);
  return {{{"out_a", parts.a.output},
           {"lse_a", parts.a.log_sum_exp},
           {"out_b", parts.b.output},
           {"lse_b", parts.b.log_sum_exp},
           {"output", parts.whole.output},
           {"lse", parts.whole.log_sum_exp}},
          {}};
}

MechanismResult run_given(const MechanismCall& call) {
  const PartialAttention whole = merge_states({call.need("out_a"), call.need("lse_a")},
                                              {call.need("out_b"), call.need("lse_b")});
  return {{{"output", whole.output}, {"lse", whole.log_sum_exp}}, {}};
}

MechanismResult run_merge(const MechanismCall& call) {
  return choice<MechanismResult (*)(const MechanismCall&)>(
      "attn::nn::merge_states: kind", call.options.word("kind", "split"),
      {{"split", run_split}, {"given", run_given}})(call);
}

}  // namespace

std::vector<Mechanism> control_mechanisms() {
  return {
      {.name = "forced_attention",
       .title = "A user sets the attention: a prior on the scores, or weights by hand",
       .formula = "w = softmax(score + prior_weight * prior), or w = forced_weight where "
                  "forced, and the others share 1 - sum forced_weight",
       .paper = "no paper: a control for those who look into a model or correct it",
       .made_of = "score given and prior, mask lengths and not forced, normalise softmax "
                  "scaled by the rest; forced weights pool beside it",
       .options = "prior_weight: how much the prior counts",
       .snippet = R"(Tensor scores = uniform({1, 2, 4}, -1, 1, nn::random());
Tensor values = uniform({1, 4, 3}, -1, 1, nn::random());
Tensor prior = Tensor::zeros({1, 2, 4});
Attended steered = nn::forced_attention(scores, values, {.prior = prior, .prior_weight = 2.0});)",
       .run = run_forced,
       // One forced place, one behind the mask, and all that a row has.
       .example = Example()
                      .inputs({{"scores", {2, 2, 4}},
                               {"prior", {2, 2, 4}},
                               {"values", {2, 4, 3}},
                               {"valid_lens", lengths({4, 3})},
                               {"forced_weight", between(0.05, 0.2, {2, 2, 4})},
                               {"forced_mask", flags({2, 2, 4}, {1, 11, 12, 13, 14})}})
                      .options({{"prior_weight", 0.7}}),
       .constants = {"forced_weight"}},
      {.name = "kv_cache_equivalence",
       .title = "Causal attention in pieces behind a cache, and whole: the same numbers",
       .formula =
           "out = softmax(q k^T / sqrt(d)) v, query i of T sees key j of S when j <= i + S - T",
       .paper = "Vaswani et al., 2017, arXiv:1706.03762",
       .made_of = "score scaled dot, mask causal at the bottom right, normalise softmax, pool "
                  "weighted sum; keys and values are views of a cache",
       .options = "chunks: how many queries each piece has; without, all at once",
       .snippet = R"(Tensor q = uniform({1, 4, 6, 8}, -1, 1, nn::random());
Tensor k = uniform({1, 2, 9, 8}, -1, 1, nn::random());
Attended whole = nn::attend_in_chunks(q, k, k);
Attended pieces = nn::attend_in_chunks(q, k, k, {3, 1, 2});)",
       .run = run_cache,
       .example = Example()
                      .inputs({{"queries", {2, 4, 3, 3}},
                               {"keys", {2, 2, 5, 3}},
                               {"values", {2, 2, 5, 2}}})
                      .options({{"chunks", std::vector<std::int64_t>{1, 2}}})},
      {.name = "merge_states",
       .title = "Two partial attentions make the whole",
       .formula = "lse = log(e^{l_a} + e^{l_b}), out = e^{l_a - lse} o_a + e^{l_b - lse} o_b",
       .paper =
           "Milakov, Gimelshein, 2018, arXiv:1805.02867; Dao et al., 2022, arXiv:2205.14135",
       .made_of = "score scaled dot, mask causal or none, normalise softmax, pool weighted "
                  "sum, twice; then the states are merged",
       .options =
           "kind: split (attends to two parts of the keys) or given (merges two states)\n"
           "split: keys before it are part a\ncausal: as with a cache",
       .snippet = R"(Tensor q = uniform({1, 2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({1, 2, 6, 8}, -1, 1, nn::random());
nn::SplitAttended parts = nn::split_attention(q, k, k, 2, nn::SplitMask::causal);
PartialAttention whole = merge_states(parts.a, parts.b);)",
       .run = run_merge,
       .example = Example()
                      .inputs({{"queries", {2, 2, 3, 3}},
                               {"keys", {2, 2, 5, 3}},
                               {"values", {2, 2, 5, 2}}})
                      .options({{"kind", "split"}, {"split", 2.0}})}};
}

}  // namespace attn::nn::adapt
