// The scores of the literature, as mechanisms.

#include <optional>
#include <vector>

#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/mechanisms/score/luong_scores.hpp"
#include "attn/nn/mechanisms/score/products.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

constexpr const char* kLuong = "Luong, Pham, Manning, 2015, arXiv:1508.04025";

/// An attention without parameters on a case.
template <class Look, class... More>
MechanismResult run_function(const Look& look, const MechanismCall& call, const More&... more) {
  return weights_and("context", look(call.need("queries"), call.need("keys"),
                                     call.need("values"), keep_lengths(call), kBoth, more...));
}

MechanismResult run_dot(const MechanismCall& call) {
  return run_function(dot_attention, call);
}

MechanismResult run_scaled_dot(const MechanismCall& call) {
  std::optional<double> scale;
  if (call.options.has("scale")) scale = call.options.number("scale", 1.0);
  return run_function(scaled_dot_attention, call, scale);
}

MechanismResult run_cosine(const MechanismCall& call) {
  return run_function(cosine_attention, call, call.options.number("scale", 1.0));
}

MechanismResult run_general(const MechanismCall& call) {
  return run_module("context",
                    GeneralAttention({.query_dim = rows(call, "W_a.weight"),
                                      .key_dim = columns(call, "W_a.weight")}),
                    call);
}

MechanismResult run_concat(const MechanismCall& call) {
  return run_module("context",
                    ConcatAttention({.query_dim = call.need("queries").size(-1),
                                     .key_dim = call.need("keys").size(-1),
                                     .hidden_dim = rows(call, "W_a.weight")}),
                    call);
}

MechanismResult run_additive(const MechanismCall& call) {
  return run_module("context",
                    AdditiveScore({.query_dim = columns(call, "W_q.weight"),
                                   .key_dim = columns(call, "W_k.weight"),
                                   .hidden_dim = rows(call, "W_q.weight")}),
                    call);
}

MechanismResult run_location(const MechanismCall& call) {
  const auto module = loaded(LocationAttention({.query_dim = columns(call, "W_a.weight"),
                                                .max_keys = rows(call, "W_a.weight")}),
                             call);
  return weights_and(
      "context",
      module.forward(call.need("queries"), call.need("values"), keep_lengths(call), kBoth),
      module.named_parameters());
}

}  // namespace

std::vector<Mechanism> score_mechanisms() {
  return {
      {.name = "score_dot",
       .title = "Luong's dot score: how far two vectors point the same way",
       .formula = "w = softmax(q . k), context = w v",
       .paper = kLuong,
       .made_of = "score dot, mask lengths, normalise softmax, pool weighted sum",
       .snippet = R"(nn::seed(1);
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 8}, -1, 1, nn::random());
Attended looked = nn::dot_attention(q, k, k, {}, Want::output | Want::weights);)",
       .header = "attn/nn/mechanisms/score/products.hpp",
       .run = run_dot,
       .example = pooling_example(4, 4)},
      {.name = "score_scaled_dot",
       .title = "Scaled dot score: the dot product with its variance kept at 1",
       .formula = "w = softmax(scale q . k), context = w v",
       .paper = "Vaswani et al., 2017, arXiv:1706.03762",
       .made_of = "score dot with a scale, mask lengths, normalise softmax, pool weighted sum",
       .options = "scale: the factor of q . k; 1 / sqrt(dim) unless given",
       .snippet = R"(nn::seed(1);
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 8}, -1, 1, nn::random());
Attended looked = nn::scaled_dot_attention(q, k, k, {}, Want::output | Want::weights);)",
       .header = "attn/nn/mechanisms/score/products.hpp",
       .run = run_scaled_dot,
       .example = pooling_example(5, 5)},
      {.name = "score_cosine",
       .title = "Cosine score: the angle between two vectors, whatever their lengths",
       .formula = "w = softmax(scale q . k / (|q| |k|)), context = w v",
       .paper = "Graves, Wayne, Danihelka, 2014, arXiv:1410.5401",
       .made_of = "score cosine, mask lengths, normalise softmax, pool weighted sum",
       .options = "scale: the factor of the cosine; 1 unless given",
       .snippet = R"(nn::seed(1);
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 8}, -1, 1, nn::random());
const double scale = 10.0;
Attended looked = nn::cosine_attention(q, k, k, {}, Want::output, scale);)",
       .header = "attn/nn/mechanisms/score/products.hpp",
       .run = run_cosine,
       .example = pooling_example(4, 4).options({{"scale", 3.0}})},
      {.name = "score_general",
       .title = "Luong's general score: a learnt similarity between two spaces",
       .formula = "w = softmax(q^T W_a k), context = w v",
       .paper = kLuong,
       .made_of =
           "score dot with projected keys, mask lengths, normalise softmax, pool weighted sum",
       .snippet = R"(nn::GeneralAttention attention({.query_dim = 8, .key_dim = 6});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
       .header = "attn/nn/mechanisms/score/luong_scores.hpp",
       .run = run_general,
       .example = pooling_example(3, 4).parameters({{"W_a.weight", {3, 4}}})},
      {.name = "score_concat",
       .title = "Luong's concat score: a small network looks at query and key side by side",
       .formula = "w = softmax(v_a . tanh(W_a [q; k])), context = w v",
       .paper = kLuong,
       .made_of = "score additive with the columns of W_a as projections, mask lengths, "
                  "normalise softmax, pool weighted sum",
       .snippet =
           R"(nn::ConcatAttention attention({.query_dim = 8, .key_dim = 6, .hidden_dim = 16});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
       .header = "attn/nn/mechanisms/score/luong_scores.hpp",
       .run = run_concat,
       .example = pooling_example(3, 4).parameters({{"W_a.weight", {5, 7}}, {"v_a", {5}}})},
      {.name = "score_additive",
       .title = "Additive score: two projections meet under a tanh",
       .formula = "w = softmax(w_v . tanh(W_q q + W_k k)), context = w v",
       .paper = "Bahdanau, Cho, Bengio, 2015, arXiv:1409.0473",
       .made_of = "score additive, mask lengths, normalise softmax, pool weighted sum",
       .snippet =
           R"(nn::AdditiveScore attention({.query_dim = 8, .key_dim = 6, .hidden_dim = 16});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
       .header = "attn/nn/attention/additive_score.hpp",
       .run = run_additive,
       .example = pooling_example(3, 4).parameters(
           {{"W_q.weight", {5, 3}}, {"W_k.weight", {5, 4}}, {"w_v.weight", {1, 5}}})},
      {.name = "score_location",
       .title = "Luong's location score: the query alone tells where to look",
       .formula = "w = softmax((W_a q)_{j < keys}), context = w v",
       .paper = kLuong,
       .made_of =
           "score given by a linear layer, mask lengths, normalise softmax, pool weighted sum",
       .snippet = R"(nn::LocationAttention attention({.query_dim = 8, .max_keys = 20});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor v = uniform({2, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, v, {}, Want::output | Want::weights);)",
       .header = "attn/nn/mechanisms/score/luong_scores.hpp",
       .run = run_location,
       .example = Example()
                      .inputs({{"queries", {2, 3, 3}},
                               {"values", {2, 4, 3}},
                               {"valid_lens", integers({4, 2, 1, 3, 0, 4}, {2, 3})}})
                      .parameters({{"W_a.weight", {6, 3}}})}};
}

}  // namespace attn::nn::adapt
