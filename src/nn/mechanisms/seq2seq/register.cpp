// Recurrent sequence to sequence, with attention and without, as mechanisms.

#include <string>
#include <vector>

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_decoder.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_greedy.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_rnnsearch.hpp"
#include "attn/nn/mechanisms/seq2seq/luong_decoder.hpp"
#include "attn/nn/mechanisms/seq2seq/seq2seq_rnn.hpp"
#include "attn/nn/recurrent/rnn_encoder.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

constexpr const char* kBahdanau = "Bahdanau, Cho, Bengio, 2015, arXiv:1409.0473";
constexpr const char* kLayers = "num_layers: stacked recurrent layers";

/// The sizes of "encoder." or "decoder.".
RnnEncoderOptions sizes(const MechanismCall& call, const std::string& prefix) {
  return {.vocabulary = rows(call, prefix + "embedding.weight"),
          .embedding = columns(call, prefix + "embedding.weight"),
          .hidden = columns(call, prefix + "rnn.weight_hh_l0"),
          .layers = call.options.whole("num_layers", 1)};
}

MechanismResult run_rnn(const MechanismCall& call) {
  const auto module = loaded(
      Seq2SeqRnn({.encoder = sizes(call, "encoder."), .decoder = sizes(call, "decoder.")}),
      call);
  const auto [enc_outputs, enc_state, logits, state] =
      module.forward(call.need("src"), call.need("tgt"), call.in("valid_lens"));
  return {{{"enc_outputs", enc_outputs},
           {"enc_state", enc_state},
           {"logits", logits},
           {"state", state}},
          module.named_parameters()};
}

BahdanauDecoder bahdanau_module(const MechanismCall& call) {
  return loaded(BahdanauDecoder({.vocabulary = rows(call, "embedding.weight"),
                                 .embedding = columns(call, "embedding.weight"),
                                 .hidden = columns(call, "rnn.weight_hh_l0"),
                                 .layers = call.options.whole("num_layers", 1),
                                 .source_dim = columns(call, "attention.W_k.weight"),
                                 .attention_dim = rows(call, "attention.W_k.weight")}),
                call);
}

MechanismResult run_bahdanau(const MechanismCall& call) {
  const BahdanauDecoder module = bahdanau_module(call);
  const auto [logits, weights, state] =
      module.forward(call.need("enc_outputs"), call.need("hidden_state"), call.need("tokens"),
                     call.in("valid_lens"));
  return {{{"logits", logits}, {"weights", weights}, {"state", state}},
          module.named_parameters()};
}

Example bahdanau_example() {
  return Example()
      .inputs({{"enc_outputs", {3, 4, 3}},
               {"hidden_state", {2, 3, 3}},
               {"tokens", ids({3, 3}, 5)},
               {"valid_lens", lengths({4, 2, 0})}})
      .parameters_of<BahdanauDecoder>(
          BahdanauDecoderOptions{.vocabulary = 5, .embedding = 2, .hidden = 3, .layers = 2})
      .options({{"num_layers", 2.0}});
}

MechanismResult run_greedy(const MechanismCall& call) {
  const BahdanauDecoder module = bahdanau_module(call);
  const Options& options = call.options;
  const auto [tokens, lengths, weights] = bahdanau_greedy(
      module, call.need("enc_outputs"), call.need("hidden_state"), call.in("valid_lens"),
      {.bos = options.whole("bos", 1),
       .eos = options.whole("eos", 2),
       .pad = options.whole("pad", 0),
       .max_len = options.whole("max_len", 10)});
  return {{{"tokens", tokens}, {"lengths", lengths}, {"weights", weights}},
          module.named_parameters()};
}

MechanismResult run_rnnsearch(const MechanismCall& call) {
  const auto module =
      loaded(RnnSearch({.source_vocabulary = rows(call, "src_embedding.weight"),
                        .target_vocabulary = rows(call, "tgt_embedding.weight"),
                        .source_embedding = columns(call, "src_embedding.weight"),
                        .target_embedding = columns(call, "tgt_embedding.weight"),
                        .encoder_hidden = columns(call, "encoder.weight_hh_l0"),
                        .decoder_hidden = columns(call, "decoder.weight_hh_l0"),
                        .attention_dim = rows(call, "U_a.weight"),
                        .maxout = columns(call, "W_o.weight")}),
             call);
  const auto [enc_outputs, logits, weights, state] =
      module.forward(call.need("src"), call.need("tokens"), call.in("valid_lens"));
  return {{{"enc_outputs", enc_outputs},
           {"logits", logits},
           {"weights", weights},
           {"state", state}},
          module.named_parameters()};
}

LuongDecoder luong_module(const MechanismCall& call) {
  const auto score =
      choice<LuongScore>("attn::nn::LuongDecoder: score", call.options.word("score", "general"),
                         {{"dot", LuongScore::dot},
                          {"general", LuongScore::general},
                          {"concat", LuongScore::concat}});
  const bool feeding = call.options.flag("input_feeding", true);
  return loaded(
      LuongDecoder({.vocabulary = rows(call, "W_s.weight"),
                    .embedding = columns(call, "embedding.weight"),
                    .hidden = columns(call, "rnn.weight_hh_l0"),
                    .attentional = rows(call, "W_c.weight"),
                    .layers = call.options.whole("num_layers", 1),
                    .score = score,
                    .feeding = feeding ? InputFeeding::on : InputFeeding::off,
                    .concat_dim = score == LuongScore::concat ? rows(call, "W_a.weight") : 0}),
      call);
}

MechanismResult run_luong(const MechanismCall& call) {
  const LuongDecoder module = luong_module(call);
  const auto [attentional, logits, weights, h, c] =
      module.forward(call.need("enc_outputs"), call.need("h0"), call.need("c0"),
                     call.need("tokens"), call.in("valid_lens"));
  return {{{"attentional", attentional},
           {"logits", logits},
           {"weights", weights},
           {"h", h},
           {"c", c}},
          module.named_parameters()};
}

}  // namespace

std::vector<Mechanism> seq2seq_mechanisms() {
  return {
      {.name = "seq2seq_rnn",
       .title = "Encoder and decoder without attention: one vector holds the whole source",
       .formula = "h_t = GRU(x_t, h_{t-1}), c = h_last, s_t = GRU([y_t; c], s_{t-1}), logits = "
                  "W s_t + b",
       .paper = "Sutskever et al., 2014, arXiv:1409.3215; Cho et al., 2014, arXiv:1406.1078",
       .made_of =
           "no attention: the baseline that the decoders with attention are held against",
       .options = kLayers,
       .snippet =
           R"(nn::Seq2SeqRnn model({.encoder = {.vocabulary = 20, .embedding = 8, .hidden = 16},
                      .decoder = {.vocabulary = 20, .embedding = 8, .hidden = 16}});
Tensor source = random_integers({2, 7}, 0, 20, nn::random());
Tensor target = random_integers({2, 5}, 0, 20, nn::random());
Tensor logits = model.forward(source, target).logits;)",
       .run = run_rnn,
       .example =
           Example()
               .inputs({{"src", ids({3, 4}, 5)},
                        {"tgt", ids({3, 2}, 5)},
                        {"valid_lens", lengths({4, 2, 0})}})
               .parameters_of<Seq2SeqRnn>(Seq2SeqRnnOptions{
                   .encoder = {.vocabulary = 5, .embedding = 2, .hidden = 3, .layers = 2},
                   .decoder = {.vocabulary = 5, .embedding = 2, .hidden = 3, .layers = 2}})
               .options({{"num_layers", 2.0}})},
      {.name = "bahdanau_decoder",
       .title = "A GRU decoder that looks at the source before each word",
       .formula =
           "c_t = additive(s_{t-1}, enc), s_t = GRU([c_t; y_t], s_{t-1}), logits = W s_t + b",
       .paper = kBahdanau,
       .made_of = "score additive, mask lengths, normalise softmax, pool weighted sum; inside "
                  "a recurrent loop that is one op",
       .options = kLayers,
       .snippet =
           R"(nn::BahdanauDecoder decoder({.vocabulary = 20, .embedding = 8, .hidden = 16});
Tensor enc = uniform({2, 7, 16}, -1, 1, nn::random());
Tensor state = Tensor::zeros({1, 2, 16});
Tensor tokens = random_integers({2, 5}, 0, 20, nn::random());
nn::BahdanauDecoded decoded = decoder.forward(enc, state, tokens);)",
       .run = run_bahdanau,
       .example = bahdanau_example()},
      {.name = "bahdanau_greedy",
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
       .run = run_greedy,
       .example = bahdanau_example(),
       .no_gradient = "it is a search: which word is likeliest does not change a little"},
      {.name = "bahdanau_rnnsearch",
       .title = "RNNsearch, whole: the model that brought attention to translation",
       .formula = "h_j = [->h_j; <-h_j], s_0 = tanh(W_init <-h_1 + b), e_tj = v_a . tanh(W_a "
                  "s_{t-1} + U_a h_j), s_t = GRU([y_t; c_t], s_{t-1}), logits = W_o maxout(U_o "
                  "s_t + V_o y_t + C_o c_t) + b",
       .paper = kBahdanau,
       .made_of = "score additive, mask lengths, normalise softmax, pool weighted sum; inside "
                  "a recurrent loop that is one op",
       .snippet = R"(nn::RnnSearch model({.source_vocabulary = 20, .target_vocabulary = 30,
                     .source_embedding = 8, .target_embedding = 8, .encoder_hidden = 8,
                     .decoder_hidden = 16, .attention_dim = 12, .maxout = 10});
Tensor source = random_integers({2, 7}, 0, 20, nn::random());
Tensor tokens = random_integers({2, 5}, 0, 30, nn::random());
Tensor logits = model.forward(source, tokens).logits;)",
       .run = run_rnnsearch,
       .example = Example()
                      .inputs({{"src", ids({3, 4}, 5)},
                               {"tokens", ids({3, 2}, 6)},
                               {"valid_lens", lengths({4, 2, 0})}})
                      .parameters_of<RnnSearch>(RnnSearchOptions{.source_vocabulary = 5,
                                                                 .target_vocabulary = 6,
                                                                 .source_embedding = 2,
                                                                 .target_embedding = 2,
                                                                 .encoder_hidden = 2,
                                                                 .decoder_hidden = 3,
                                                                 .attention_dim = 5,
                                                                 .maxout = 2})},
      {.name = "luong_decoder",
       .title = "Luong's decoder: the current state looks, and what it saw is fed on",
       .formula = "h_t = LSTM([y_t; a_{t-1}]), w = softmax(score(h_t, enc)), c_t = sum w enc, "
                  "a_t = tanh(W_c [c_t; h_t]), logits = W_s a_t",
       .paper = "Luong, Pham, Manning, 2015, arXiv:1508.04025",
       .made_of = "score dot (keys projected for general) or additive (concat), mask lengths, "
                  "normalise softmax, pool weighted sum; with input feeding inside a recurrent "
                  "loop that is one op",
       .options = "num_layers: stacked LSTM layers\nscore: dot, general or concat\n"
                  "input_feeding: whether a_{t-1} joins the next input",
       .snippet = R"(nn::LuongDecoder decoder({.vocabulary = 20, .embedding = 8, .hidden = 16,
                          .attentional = 12, .score = nn::LuongScore::general});
Tensor enc = uniform({2, 7, 16}, -1, 1, nn::random());
Tensor zero = Tensor::zeros({1, 2, 16});
Tensor tokens = random_integers({2, 5}, 0, 20, nn::random());
nn::LuongDecoded decoded = decoder.forward(enc, zero, zero, tokens);)",
       .run = run_luong,
       .example =
           Example()
               .inputs({{"enc_outputs", {3, 4, 3}},
                        {"h0", {2, 3, 3}},
                        {"c0", {2, 3, 3}},
                        {"tokens", ids({3, 3}, 5)},
                        {"valid_lens", lengths({4, 2, 0})}})
               .parameters_of<LuongDecoder>(LuongDecoderOptions{.vocabulary = 5,
                                                                .embedding = 2,
                                                                .hidden = 3,
                                                                .attentional = 4,
                                                                .layers = 2,
                                                                .score = LuongScore::concat,
                                                                .concat_dim = 5})
               .options({{"num_layers", 2.0}, {"score", "concat"}, {"input_feeding", true}})}};
}

}  // namespace attn::nn::adapt
