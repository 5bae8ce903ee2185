// The scores of the literature, as mechanisms.

#include <optional>
#include <vector>

#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/mechanisms/score/luong_scores.hpp"
#include "attn/nn/mechanisms/score/products.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/random.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/families.hpp"

namespace attn::nn {
namespace {

constexpr const char* kLuong = "Luong, Pham, Manning, 2015, arXiv:1508.04025";

/// A module of queries, keys and values on a case.
template <class M>
Made run_module(const M& module, const Given& given) {
  return adapt::weights_and_context(
      module.forward(given.need("queries"), given.need("keys"), given.need("values"),
                     adapt::keep_lengths(given), adapt::kBoth),
      module.named_parameters());
}

Mechanism dot() {
  return {
      .name = "score_dot",
      .family = "score",
      .title = "Luong's dot score: how far two vectors point the same way",
      .formula = "w = softmax(q . k), context = w v",
      .paper = kLuong,
      .made_of = "score dot, mask lengths, normalise softmax, pool weighted sum",
      .options = "",
      .snippet = R"(nn::seed(1);
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 8}, -1, 1, nn::random());
Attended looked = nn::dot_attention(q, k, k, {}, Want::output | Want::weights);)",
      .header = "attn/nn/mechanisms/score/products.hpp",
      .run =
          [](const Given& given) {
            return adapt::weights_and_context(
                dot_attention(given.need("queries"), given.need("keys"), given.need("values"),
                              adapt::keep_lengths(given), adapt::kBoth));
          },
      .example = [](Random& random) { return adapt::pooling_example(random, 4, 4); },
  };
}

Mechanism scaled_dot() {
  return {
      .name = "score_scaled_dot",
      .family = "score",
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
      .run =
          [](const Given& given) {
            std::optional<double> scale;
            if (given.options.has("scale")) scale = given.options.number("scale", 1.0);
            return adapt::weights_and_context(scaled_dot_attention(
                given.need("queries"), given.need("keys"), given.need("values"),
                adapt::keep_lengths(given), adapt::kBoth, scale));
          },
      .example = [](Random& random) { return adapt::pooling_example(random, 5, 5); },
  };
}

Mechanism cosine() {
  return {
      .name = "score_cosine",
      .family = "score",
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
      .run =
          [](const Given& given) {
            return adapt::weights_and_context(cosine_attention(
                given.need("queries"), given.need("keys"), given.need("values"),
                adapt::keep_lengths(given), adapt::kBoth, given.options.number("scale", 1.0)));
          },
      .example =
          [](Random& random) {
            Given given = adapt::pooling_example(random, 4, 4);
            given.options.set("scale", 3.0);
            return given;
          },
  };
}

Mechanism general() {
  return {
      .name = "score_general",
      .family = "score",
      .title = "Luong's general score: a learnt similarity between two spaces",
      .formula = "w = softmax(q^T W_a k), context = w v",
      .paper = kLuong,
      .made_of =
          "score dot with projected keys, mask lengths, normalise softmax, pool "
          "weighted sum",
      .options = "",
      .snippet = R"(nn::GeneralAttention attention({.query_dim = 8, .key_dim = 6});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
      .header = "attn/nn/mechanisms/score/luong_scores.hpp",
      .run =
          [](const Given& given) {
            return run_module(
                adapt::loaded(
                    GeneralAttention({.query_dim = adapt::rows(given, "W_a.weight"),
                                      .key_dim = adapt::columns(given, "W_a.weight")}),
                    given),
                given);
          },
      .example =
          [](Random& random) {
            Given given = adapt::pooling_example(random, 3, 4);
            given.parameters["W_a.weight"] = adapt::real(random, {3, 4});
            return given;
          },
  };
}

Mechanism concat_form() {
  return {
      .name = "score_concat",
      .family = "score",
      .title = "Luong's concat score: a small network looks at query and key side by side",
      .formula = "w = softmax(v_a . tanh(W_a [q; k])), context = w v",
      .paper = kLuong,
      .made_of =
          "score additive with the columns of W_a as projections, mask lengths, "
          "normalise softmax, pool weighted sum",
      .options = "",
      .snippet =
          R"(nn::ConcatAttention attention({.query_dim = 8, .key_dim = 6, .hidden_dim = 16});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
      .header = "attn/nn/mechanisms/score/luong_scores.hpp",
      .run =
          [](const Given& given) {
            const auto query_dim = given.need("queries").size(-1);
            return run_module(
                adapt::loaded(ConcatAttention({.query_dim = query_dim,
                                               .key_dim = given.need("keys").size(-1),
                                               .hidden_dim = adapt::rows(given, "W_a.weight")}),
                              given),
                given);
          },
      .example =
          [](Random& random) {
            Given given = adapt::pooling_example(random, 3, 4);
            given.parameters["W_a.weight"] = adapt::real(random, {5, 7});
            given.parameters["v_a"] = adapt::real(random, {5});
            return given;
          },
  };
}

Mechanism additive() {
  return {
      .name = "score_additive",
      .family = "score",
      .title = "Additive score: two projections meet under a tanh",
      .formula = "w = softmax(w_v . tanh(W_q q + W_k k)), context = w v",
      .paper = "Bahdanau, Cho, Bengio, 2015, arXiv:1409.0473",
      .made_of = "score additive, mask lengths, normalise softmax, pool weighted sum",
      .options = "",
      .snippet =
          R"(nn::AdditiveScore attention({.query_dim = 8, .key_dim = 6, .hidden_dim = 16});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor k = uniform({2, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, k, k, {}, Want::output | Want::weights);)",
      .header = "attn/nn/attention/additive_score.hpp",
      .run =
          [](const Given& given) {
            return run_module(
                adapt::loaded(AdditiveScore({.query_dim = adapt::columns(given, "W_q.weight"),
                                             .key_dim = adapt::columns(given, "W_k.weight"),
                                             .hidden_dim = adapt::rows(given, "W_q.weight")}),
                              given),
                given);
          },
      .example =
          [](Random& random) {
            Given given = adapt::pooling_example(random, 3, 4);
            given.parameters["W_q.weight"] = adapt::real(random, {5, 3});
            given.parameters["W_k.weight"] = adapt::real(random, {5, 4});
            given.parameters["w_v.weight"] = adapt::real(random, {1, 5});
            return given;
          },
  };
}

Mechanism location() {
  return {
      .name = "score_location",
      .family = "score",
      .title = "Luong's location score: the query alone tells where to look",
      .formula = "w = softmax((W_a q)_{j < keys}), context = w v",
      .paper = kLuong,
      .made_of =
          "score given by a linear layer, mask lengths, normalise softmax, pool "
          "weighted sum",
      .options = "",
      .snippet = R"(nn::LocationAttention attention({.query_dim = 8, .max_keys = 20});
Tensor q = uniform({2, 3, 8}, -1, 1, nn::random());
Tensor v = uniform({2, 5, 6}, -1, 1, nn::random());
Attended looked = attention.forward(q, v, {}, Want::output | Want::weights);)",
      .header = "attn/nn/mechanisms/score/luong_scores.hpp",
      .run =
          [](const Given& given) {
            const auto module = adapt::loaded(
                LocationAttention({.query_dim = adapt::columns(given, "W_a.weight"),
                                   .max_keys = adapt::rows(given, "W_a.weight")}),
                given);
            return adapt::weights_and_context(
                module.forward(given.need("queries"), given.need("values"),
                               adapt::keep_lengths(given), adapt::kBoth),
                module.named_parameters());
          },
      .example =
          [](Random& random) {
            Given given = adapt::pooling_example(random, 3, 4);
            given.inputs.erase("keys");
            given.parameters["W_a.weight"] = adapt::real(random, {6, 3});
            return given;
          },
  };
}

}  // namespace

std::vector<Mechanism> score_mechanisms() {
  return {dot(), scaled_dot(), cosine(), general(), concat_form(), additive(), location()};
}

}  // namespace attn::nn
