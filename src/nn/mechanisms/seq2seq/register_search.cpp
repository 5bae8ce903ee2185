// Recurrent sequence to sequence: RNNsearch and Luong's decoder.

#include <string>

#include "attn/core/error.hpp"
#include "attn/nn/attention/luong_attention.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_rnnsearch.hpp"
#include "attn/nn/mechanisms/seq2seq/luong_decoder.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/seq2seq/register.hpp"

namespace attn::nn {
namespace {

Made run_rnnsearch(const Given& given) {
  const auto module = adapt::loaded(
      RnnSearch({.source_vocabulary = adapt::rows(given, "src_embedding.weight"),
                 .target_vocabulary = adapt::rows(given, "tgt_embedding.weight"),
                 .source_embedding = adapt::columns(given, "src_embedding.weight"),
                 .target_embedding = adapt::columns(given, "tgt_embedding.weight"),
                 .encoder_hidden = adapt::columns(given, "encoder.weight_hh_l0"),
                 .decoder_hidden = adapt::columns(given, "decoder.weight_hh_l0"),
                 .attention_dim = adapt::rows(given, "U_a.weight"),
                 .maxout = adapt::columns(given, "W_o.weight")}),
      given);
  const auto [enc_outputs, logits, weights, state] =
      module.forward(given.need("src"), given.need("tokens"), given.in("valid_lens"));
  return {{{"enc_outputs", enc_outputs},
           {"logits", logits},
           {"weights", weights},
           {"state", state}},
          module.named_parameters()};
}

Given rnnsearch_example(Random& random) {
  Given given;
  given.inputs["src"] = adapt::ids(random, {3, 4}, 5);
  given.inputs["tokens"] = adapt::ids(random, {3, 2}, 6);
  given.inputs["valid_lens"] = adapt::lengths({4, 2, 0});
  auto& all = given.parameters;
  all["src_embedding.weight"] = adapt::real(random, {5, 2});
  all["tgt_embedding.weight"] = adapt::real(random, {6, 2});
  adapt::add_recurrent(given, random, "encoder.", 3, 2, 2, 1, true);
  all["W_init.weight"] = adapt::real(random, {3, 2});
  all["W_init.bias"] = adapt::real(random, {3});
  all["W_a.weight"] = adapt::real(random, {5, 3});
  all["U_a.weight"] = adapt::real(random, {5, 4});
  all["v_a"] = adapt::real(random, {5});
  adapt::add_recurrent(given, random, "decoder.", 3, 6, 3);
  all["U_o.weight"] = adapt::real(random, {4, 3});
  all["V_o.weight"] = adapt::real(random, {4, 2});
  all["C_o.weight"] = adapt::real(random, {4, 4});
  all["W_o.weight"] = adapt::real(random, {6, 2});
  all["W_o.bias"] = adapt::real(random, {6});
  return given;
}

LuongScore luong_score(const std::string& name) {
  if (name == "dot") return LuongScore::dot;
  if (name == "general") return LuongScore::general;
  if (name == "concat") return LuongScore::concat;
  fail("attn::nn::LuongDecoder: score '", name, "'; dot, general and concat are accepted");
}

LuongDecoder luong_module(const Given& given) {
  const LuongScore score = luong_score(given.options.word("score", "general"));
  const bool feeding = given.options.flag("input_feeding", true);
  return adapt::loaded(
      LuongDecoder(
          {.vocabulary = adapt::rows(given, "W_s.weight"),
           .embedding = adapt::columns(given, "embedding.weight"),
           .hidden = adapt::columns(given, "rnn.weight_hh_l0"),
           .attentional = adapt::rows(given, "W_c.weight"),
           .layers = given.options.whole("num_layers", 1),
           .score = score,
           .feeding = feeding ? InputFeeding::on : InputFeeding::off,
           .concat_dim = score == LuongScore::concat ? adapt::rows(given, "W_a.weight") : 0}),
      given);
}

Made run_luong(const Given& given) {
  const LuongDecoder module = luong_module(given);
  const auto [attentional, logits, weights, h, c] =
      module.forward(given.need("enc_outputs"), given.need("h0"), given.need("c0"),
                     given.need("tokens"), given.in("valid_lens"));
  return {{{"attentional", attentional},
           {"logits", logits},
           {"weights", weights},
           {"h", h},
           {"c", c}},
          module.named_parameters()};
}

Given luong_example(Random& random) {
  Given given;
  given.inputs["enc_outputs"] = adapt::real(random, {3, 4, 3});
  given.inputs["h0"] = adapt::real(random, {2, 3, 3});
  given.inputs["c0"] = adapt::real(random, {2, 3, 3});
  given.inputs["tokens"] = adapt::ids(random, {3, 3}, 5);
  given.inputs["valid_lens"] = adapt::lengths({4, 2, 0});
  given.options.set("num_layers", 2.0);
  given.options.set("score", std::string("concat"));
  given.options.set("input_feeding", true);
  given.parameters["embedding.weight"] = adapt::real(random, {5, 2});
  adapt::add_recurrent(given, random, "rnn.", 4, 6, 3, 2);
  given.parameters["W_c.weight"] = adapt::real(random, {4, 6});
  given.parameters["W_s.weight"] = adapt::real(random, {5, 4});
  given.parameters["W_a.weight"] = adapt::real(random, {5, 6});
  given.parameters["v_a"] = adapt::real(random, {5});
  return given;
}

}  // namespace

Mechanism rnnsearch_mechanism() {
  return {
      .name = "bahdanau_rnnsearch",
      .family = "seq2seq",
      .title = "RNNsearch, whole: the model that brought attention to translation",
      .formula =
          "h_j = [->h_j; <-h_j], s_0 = tanh(W_init <-h_1 + b), "
          "e_tj = v_a . tanh(W_a s_{t-1} + U_a h_j), s_t = GRU([y_t; c_t], s_{t-1}), "
          "logits = W_o maxout(U_o s_t + V_o y_t + C_o c_t) + b",
      .paper = "Bahdanau, Cho, Bengio, 2015, arXiv:1409.0473",
      .made_of =
          "score additive, mask lengths, normalise softmax, pool weighted sum; inside "
          "a recurrent loop that is one op",
      .options = "",
      .snippet = R"(nn::RnnSearch model({.source_vocabulary = 20, .target_vocabulary = 30,
                     .source_embedding = 8, .target_embedding = 8, .encoder_hidden = 8,
                     .decoder_hidden = 16, .attention_dim = 12, .maxout = 10});
Tensor source = random_integers({2, 7}, 0, 20, nn::random());
Tensor tokens = random_integers({2, 5}, 0, 30, nn::random());
Tensor logits = model.forward(source, tokens).logits;)",
      .header = "attn/nn/mechanisms/seq2seq/bahdanau_rnnsearch.hpp",
      .run = run_rnnsearch,
      .example = rnnsearch_example,
  };
}

Mechanism luong_mechanism() {
  return {
      .name = "luong_decoder",
      .family = "seq2seq",
      .title = "Luong's decoder: the current state looks, and what it saw is fed on",
      .formula =
          "h_t = LSTM([y_t; a_{t-1}]), w = softmax(score(h_t, enc)), c_t = sum w enc, "
          "a_t = tanh(W_c [c_t; h_t]), logits = W_s a_t",
      .paper = "Luong, Pham, Manning, 2015, arXiv:1508.04025",
      .made_of =
          "score dot (keys projected for general) or additive (concat), mask lengths, "
          "normalise softmax, pool weighted sum; with input feeding inside a recurrent "
          "loop that is one op",
      .options =
          "num_layers: stacked LSTM layers\nscore: dot, general or concat\n"
          "input_feeding: whether a_{t-1} joins the next input",
      .snippet = R"(nn::LuongDecoder decoder({.vocabulary = 20, .embedding = 8, .hidden = 16,
                          .attentional = 12, .score = nn::LuongScore::general});
Tensor enc = uniform({2, 7, 16}, -1, 1, nn::random());
Tensor zero = Tensor::zeros({1, 2, 16});
Tensor tokens = random_integers({2, 5}, 0, 20, nn::random());
nn::LuongDecoded decoded = decoder.forward(enc, zero, zero, tokens);)",
      .header = "attn/nn/mechanisms/seq2seq/luong_decoder.hpp",
      .run = run_luong,
      .example = luong_example,
  };
}

}  // namespace attn::nn
