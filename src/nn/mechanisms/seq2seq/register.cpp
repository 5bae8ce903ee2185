// Recurrent sequence to sequence: the decoders with additive attention, and the one without
// any.

#include "nn/mechanisms/seq2seq/register.hpp"

#include <string>
#include <vector>

#include "attn/nn/mechanisms/seq2seq/bahdanau_decoder.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_greedy.hpp"
#include "attn/nn/mechanisms/seq2seq/seq2seq_rnn.hpp"
#include "attn/nn/recurrent/rnn_encoder.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/families.hpp"

namespace attn::nn {
namespace {

constexpr const char* kBahdanau = "Bahdanau, Cho, Bengio, 2015, arXiv:1409.0473";
constexpr const char* kLayers = "num_layers: stacked recurrent layers";

RnnEncoderOptions encoder_sizes(const Given& given) {
  return {.vocabulary = adapt::rows(given, "encoder.embedding.weight"),
          .embedding = adapt::columns(given, "encoder.embedding.weight"),
          .hidden = adapt::columns(given, "encoder.rnn.weight_hh_l0"),
          .layers = given.options.whole("num_layers", 1)};
}

RnnDecoderOptions decoder_sizes(const Given& given) {
  return {.vocabulary = adapt::rows(given, "decoder.embedding.weight"),
          .embedding = adapt::columns(given, "decoder.embedding.weight"),
          .hidden = adapt::columns(given, "decoder.rnn.weight_hh_l0"),
          .layers = given.options.whole("num_layers", 1)};
}

Made run_rnn(const Given& given) {
  const auto module = adapt::loaded(
      Seq2SeqRnn({.encoder = encoder_sizes(given), .decoder = decoder_sizes(given)}), given);
  const auto [enc_outputs, enc_state, logits, state] =
      module.forward(given.need("src"), given.need("tgt"), given.in("valid_lens"));
  return {{{"enc_outputs", enc_outputs},
           {"enc_state", enc_state},
           {"logits", logits},
           {"state", state}},
          module.named_parameters()};
}

Given rnn_example(Random& random) {
  Given given;
  given.inputs["src"] = adapt::ids(random, {3, 4}, 5);
  given.inputs["tgt"] = adapt::ids(random, {3, 2}, 5);
  given.inputs["valid_lens"] = adapt::lengths({4, 2, 0});
  given.options.set("num_layers", 2.0);
  given.parameters["encoder.embedding.weight"] = adapt::real(random, {5, 2});
  adapt::add_recurrent(given, random, "encoder.rnn.", 3, 2, 3, 2);
  given.parameters["decoder.embedding.weight"] = adapt::real(random, {5, 2});
  adapt::add_recurrent(given, random, "decoder.rnn.", 3, 5, 3, 2);
  given.parameters["decoder.dense.weight"] = adapt::real(random, {5, 3});
  given.parameters["decoder.dense.bias"] = adapt::real(random, {5});
  return given;
}

Mechanism plain() {
  return {
      .name = "seq2seq_rnn",
      .family = "seq2seq",
      .title = "Encoder and decoder without attention: one vector holds the whole source",
      .formula =
          "h_t = GRU(x_t, h_{t-1}), c = h_last, s_t = GRU([y_t; c], s_{t-1}), "
          "logits = W s_t + b",
      .paper = "Sutskever et al., 2014, arXiv:1409.3215; Cho et al., 2014, arXiv:1406.1078",
      .made_of = "no attention: the baseline that the decoders with attention are held against",
      .options = kLayers,
      .snippet =
          R"(nn::Seq2SeqRnn model({.encoder = {.vocabulary = 20, .embedding = 8, .hidden = 16},
                      .decoder = {.vocabulary = 20, .embedding = 8, .hidden = 16}});
Tensor source = random_integers({2, 7}, 0, 20, nn::random());
Tensor target = random_integers({2, 5}, 0, 20, nn::random());
Tensor logits = model.forward(source, target).logits;)",
      .header = "attn/nn/mechanisms/seq2seq/seq2seq_rnn.hpp",
      .run = run_rnn,
      .example = rnn_example,
  };
}

BahdanauDecoder bahdanau_module(const Given& given) {
  return adapt::loaded(
      BahdanauDecoder({.vocabulary = adapt::rows(given, "embedding.weight"),
                       .embedding = adapt::columns(given, "embedding.weight"),
                       .hidden = adapt::columns(given, "rnn.weight_hh_l0"),
                       .layers = given.options.whole("num_layers", 1),
                       .source_dim = adapt::columns(given, "attention.W_k.weight"),
                       .attention_dim = adapt::rows(given, "attention.W_k.weight")}),
      given);
}

Made run_bahdanau(const Given& given) {
  const BahdanauDecoder module = bahdanau_module(given);
  const auto [logits, weights, state] =
      module.forward(given.need("enc_outputs"), given.need("hidden_state"),
                     given.need("tokens"), given.in("valid_lens"));
  return {{{"logits", logits}, {"weights", weights}, {"state", state}},
          module.named_parameters()};
}

Given bahdanau_example(Random& random) {
  Given given;
  given.inputs["enc_outputs"] = adapt::real(random, {3, 4, 3});
  given.inputs["hidden_state"] = adapt::real(random, {2, 3, 3});
  given.inputs["tokens"] = adapt::ids(random, {3, 3}, 5);
  given.inputs["valid_lens"] = adapt::lengths({4, 2, 0});
  given.options.set("num_layers", 2.0);
  given.parameters["embedding.weight"] = adapt::real(random, {5, 2});
  given.parameters["attention.W_q.weight"] = adapt::real(random, {3, 3});
  given.parameters["attention.W_k.weight"] = adapt::real(random, {3, 3});
  given.parameters["attention.w_v.weight"] = adapt::real(random, {1, 3});
  adapt::add_recurrent(given, random, "rnn.", 3, 5, 3, 2);
  given.parameters["dense.weight"] = adapt::real(random, {5, 3});
  given.parameters["dense.bias"] = adapt::real(random, {5});
  return given;
}

Mechanism bahdanau() {
  return {
      .name = "bahdanau_decoder",
      .family = "seq2seq",
      .title = "A GRU decoder that looks at the source before each word",
      .formula =
          "c_t = additive(s_{t-1}, enc), s_t = GRU([c_t; y_t], s_{t-1}), "
          "logits = W s_t + b",
      .paper = kBahdanau,
      .made_of =
          "score additive, mask lengths, normalise softmax, pool weighted sum; inside "
          "a recurrent loop that is one op",
      .options = kLayers,
      .snippet =
          R"(nn::BahdanauDecoder decoder({.vocabulary = 20, .embedding = 8, .hidden = 16});
Tensor enc = uniform({2, 7, 16}, -1, 1, nn::random());
Tensor state = Tensor::zeros({1, 2, 16});
Tensor tokens = random_integers({2, 5}, 0, 20, nn::random());
nn::BahdanauDecoded decoded = decoder.forward(enc, state, tokens);)",
      .header = "attn/nn/mechanisms/seq2seq/bahdanau_decoder.hpp",
      .run = run_bahdanau,
      .example = bahdanau_example,
  };
}

Made run_greedy(const Given& given) {
  const BahdanauDecoder module = bahdanau_module(given);
  const Options& options = given.options;
  const auto [tokens, lengths, weights] = bahdanau_greedy(
      module, given.need("enc_outputs"), given.need("hidden_state"), given.in("valid_lens"),
      {.bos = options.whole("bos", 1),
       .eos = options.whole("eos", 2),
       .pad = options.whole("pad", 0),
       .max_len = options.whole("max_len", 10)});
  return {{{"tokens", tokens}, {"lengths", lengths}, {"weights", weights}},
          module.named_parameters()};
}

Mechanism greedy() {
  return {
      .name = "bahdanau_greedy",
      .family = "seq2seq",
      .title = "The Bahdanau decoder run freely: each likeliest word is the next input",
      .formula = "y_0 = bos, y_{t+1} = argmax logits_t, until eos or max_len",
      .paper = kBahdanau,
      .made_of = "bahdanau_decoder one step at a time; choosing a word has no gradient",
      .options = std::string(kLayers) +
                 "\nbos: first input\neos: ends a row\npad: fills a row after its end\n"
                 "max_len: most words",
      .snippet =
          R"(nn::BahdanauDecoder decoder({.vocabulary = 20, .embedding = 8, .hidden = 16});
Tensor enc = uniform({2, 7, 16}, -1, 1, nn::random());
nn::GreedyDecoded said = nn::bahdanau_greedy(
    decoder, enc, Tensor::zeros({1, 2, 16}), {}, {.bos = 1, .eos = 2, .pad = 0, .max_len = 9});)",
      .header = "attn/nn/mechanisms/seq2seq/bahdanau_greedy.hpp",
      .run = run_greedy,
      .example = bahdanau_example,
      .no_gradient = "it is a search: which word is likeliest does not change a little",
  };
}

}  // namespace

std::vector<Mechanism> seq2seq_mechanisms() {
  return {plain(), bahdanau(), greedy(), rnnsearch_mechanism(), luong_mechanism()};
}

}  // namespace attn::nn
