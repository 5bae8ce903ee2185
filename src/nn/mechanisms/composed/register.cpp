// Attentions over attentions, layer after layer and over memories, as mechanisms.

#include <string>
#include <vector>

#include "attn/nn/mechanisms/composed/attention_over_attention.hpp"
#include "attn/nn/mechanisms/composed/cmla.hpp"
#include "attn/nn/mechanisms/composed/hierarchical_attention.hpp"
#include "attn/nn/mechanisms/composed/key_value_memory.hpp"
#include "attn/nn/mechanisms/composed/memory_network.hpp"
#include "attn/nn/mechanisms/composed/multi_dimensional_attention.hpp"
#include "attn/nn/mechanisms/composed/multi_step_attention.hpp"
#include "attn/nn/mechanisms/composed/non_local_transformer.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

MechanismResult run_hierarchical(const MechanismCall& call) {
  const auto encoder = choice<SentenceEncoder>(
      "attn::nn: sentence_encoder", call.options.word("sentence_encoder", "none"),
      {{"none", SentenceEncoder::none}, {"bigru", SentenceEncoder::bigru}});
  const auto module = loaded(
      HierarchicalAttention({.word_dim = columns(call, "word.weight"),
                             .word_hidden = rows(call, "word.weight"),
                             .sentence_hidden = rows(call, "sentence.weight"),
                             .encoder = encoder,
                             .gru_hidden = encoder == SentenceEncoder::none
                                               ? 0
                                               : columns(call, "sentence_gru.weight_hh_l0")}),
      call);
  const auto attended =
      module.forward(call.need("word_states"), call.in("word_lens"), call.in("sentence_lens"));
  return {{{"word_weights", attended.word_weights},
           {"sentence_vectors", attended.sentence_vectors},
           {"sentence_weights", attended.sentence_weights},
           {"document", attended.document}},
          module.named_parameters()};
}

MechanismResult run_over_attention(const MechanismCall& call) {
  const auto result = attention_over_attention({.document = call.need("document"),
                                                .query = call.need("query"),
                                                .document_ids = call.need("document_ids"),
                                                .document_lens = call.in("document_lens"),
                                                .query_lens = call.in("query_lens")},
                                               call.options.whole("vocab_size", 0), kBoth);
  return {{{"alpha", result.alpha},
           {"beta", result.beta},
           {"s", result.s},
           {"word_probs", result.word_probs}},
          {}};
}

MechanismResult run_multi_step(const MechanismCall& call) {
  const bool conv = call.options.flag("conv", call.has_parameter("layers.0.conv.weight"));
  const auto module =
      loaded(MultiStepAttention(
                 {.channels = columns(call, "layers.0.in_proj.weight"),
                  .embed_dim = rows(call, "layers.0.in_proj.weight"),
                  .layers = call.options.whole("num_layers", 1),
                  .kernel = conv ? call.parameter("layers.0.conv.weight").size(2) : 0,
                  .variance = call.options.flag("normalise", false) ? VarianceRule::authors
                                                                    : VarianceRule::none}),
             call);
  const auto result = module.forward({.states = call.need("states"),
                                      .target_embed = call.need("target_embed"),
                                      .enc_out = call.need("enc_out"),
                                      .enc_embed = call.need("enc_embed"),
                                      .lengths = call.in("valid_lens")},
                                     kBoth);
  return {{{"weights", result.weights},
           {"mean_weights", result.mean_weights},
           {"output", result.output}},
          module.named_parameters()};
}

MechanismResult run_source(const MechanismCall& call) {
  const auto module = loaded(SourceToTokenAttention({.dim = columns(call, "W1.weight"),
                                                     .hidden = rows(call, "W1.weight"),
                                                     .activation = activation(call, "elu")}),
                             call);
  const auto attended = module.forward(call.need("x"), call.in("valid_lens"));
  return {{{"output", attended.output}, {"weights", attended.weights}},
          module.named_parameters()};
}

MechanismResult run_tokens(const MechanismCall& call) {
  const auto module = loaded(
      TokenToTokenAttention(
          {.dim = rows(call, "W1.weight"),
           .cap = call.options.number("c", 5.0),
           .order = choice<TokenOrder>("attn::nn: mask", call.options.word("mask", "none"),
                                       {{"none", TokenOrder::all},
                                        {"forward", TokenOrder::forward},
                                        {"backward", TokenOrder::backward}})}),
      call);
  const auto attended = module.forward(call.need("x"), call.in("valid_lens"), kBoth);
  return {{{"output", attended.output},
           {"context", attended.context},
           {"weights", attended.weights}},
          module.named_parameters()};
}

MechanismResult run_dimensional(const MechanismCall& call) {
  return choice<MechanismResult (*)(const MechanismCall&)>(
      "attn::nn: kind", call.options.word("kind", "source2token"),
      {{"source2token", run_source}, {"token2token", run_tokens}})(call);
}

MechanismResult run_cmla(const MechanismCall& call) {
  const auto module = loaded(Cmla({.dim = call.parameter("u_a").size(0),
                                   .slices = rows(call, "G_a"),
                                   .classes = rows(call, "C_a.weight"),
                                   .layers = call.options.whole("num_layers", 2)}),
                             call);
  const auto [aspect, opinion] = module.forward(call.need("states"), call.in("valid_lens"));
  return {{{"weights_a", aspect.weights},
           {"weights_p", opinion.weights},
           {"prototype_a", aspect.prototype},
           {"prototype_p", opinion.prototype},
           {"logits_a", aspect.logits},
           {"logits_p", opinion.logits}},
          module.named_parameters()};
}

MechanismResult run_non_local_transformer(const MechanismCall& call) {
  const auto module =
      loaded(NonLocalTransformer({.dim = columns(call, "sigma.g.weight"),
                                  .inner = rows(call, "sigma.g.weight"),
                                  .heads = call.options.whole("nhead", 1),
                                  .feed_forward_dim = rows(call, "layer.linear1.weight")}),
             call);
  const auto result = module.forward(call.need("x"), kBoth);
  return {{{"output", result.output},
           {"sigma_weights", result.sigma_weights},
           {"tau_weights", result.tau_weights}},
          module.named_parameters()};
}

MemoryNetworkOptions memory_options(const MechanismCall& call) {
  const Options& options = call.options;
  const auto tying = choice<MemoryTying>(
      "attn::nn: tying", options.word("tying", "adjacent"),
      {{"adjacent", MemoryTying::adjacent}, {"layerwise", MemoryTying::layerwise}});
  const bool adjacent = tying == MemoryTying::adjacent;
  const std::string words = adjacent ? "E.0.weight" : "A.weight";
  const std::string times = adjacent ? "T.0.weight" : "T_A.weight";
  const bool temporal = options.flag("temporal", call.has_parameter(times));
  return {
      .vocab_size = rows(call, words),
      .dim = columns(call, words),
      .hops = options.whole("hops", 1),
      .tying = tying,
      .order = options.flag("position_encoding", false) ? WordOrder::position : WordOrder::bag,
      .temporal_rows = temporal ? rows(call, times) : 0,
      .weights =
          options.flag("linear_start", false) ? MemoryWeights::linear : MemoryWeights::softmax};
}

MechanismResult run_memory(const MechanismCall& call) {
  const auto module = loaded(MemoryNetwork(memory_options(call)), call);
  const auto result = module.forward({.memories = call.need("memories"),
                                      .question = call.need("question"),
                                      .memory_word_lens = call.in("memory_word_lens"),
                                      .memory_lens = call.in("memory_lens"),
                                      .question_lens = call.in("question_lens")});
  return {{{"weights", result.weights}, {"u", result.u}, {"logits", result.logits}},
          module.named_parameters()};
}

MechanismResult run_key_value(const MechanismCall& call) {
  const auto module = loaded(
      KeyValueMemory({.features = columns(call, "A.weight"),
                      .dim = rows(call, "A.weight"),
                      .hops = call.options.whole("hops", 1),
                      .answers = call.options.flag("tie_b", !call.has_parameter("B.weight"))
                                     ? AnswerMatrix::tied
                                     : AnswerMatrix::own}),
      call);
  const auto result = module.forward(call.need("query"), call.need("keys"), call.need("values"),
                                     call.need("candidates"), call.in("valid_lens"));
  return {{{"weights", result.weights}, {"q", result.q}, {"logits", result.logits}},
          module.named_parameters()};
}

}  // namespace

std::vector<Mechanism> composed_mechanisms() {
  return {
      {.name = "hierarchical_attention",
       .title = "Words make sentences, sentences a document",
       .formula = "u = tanh(W h + b), a = softmax(u . u_w), s = sum a h; again over sentences "
                  "with u_s",
       .paper = "Yang et al., 2016 (NAACL)",
       .made_of = "twice score additive with a learnt query, mask lengths, normalise softmax, "
                  "pool weighted sum",
       .options = "sentence_encoder: none, or bigru to read the sentences in order",
       .snippet = R"(nn::HierarchicalAttention attention(
    {.word_dim = 8, .word_hidden = 6, .sentence_hidden = 5});
Tensor words = uniform({2, 3, 7, 8}, -1, 1, nn::random());
nn::DocumentLook looked = attention.forward(words);)",
       .run = run_hierarchical,
       // An empty sentence in the middle, a short document, an empty one.
       .example = Example()
                      .inputs({{"word_states", {3, 3, 4, 2}},
                               {"word_lens", integers({4, 0, 2, 1, 3, 0, 0, 0, 0}, {3, 3})},
                               {"sentence_lens", lengths({3, 2, 0})}})
                      .parameters_of<HierarchicalAttention>(
                          HierarchicalAttentionOptions{.word_dim = 2,
                                                       .word_hidden = 3,
                                                       .sentence_hidden = 4,
                                                       .encoder = SentenceEncoder::bigru,
                                                       .gru_hidden = 3})
                      .options({{"sentence_encoder", "bigru"}})},
      {.name = "attention_over_attention",
       .title = "The query's words weigh what each of them found",
       .formula = "M = D Q^T, alpha = softmax of M over the document, beta = mean over the "
                  "document of softmax of M over the query, s = alpha beta, word_probs(w) = "
                  "sum of s_i with id_i = w",
       .paper = "Cui et al., 2017, arXiv:1607.04423",
       .made_of = "twice score dot, mask lengths of both sides, normalise softmax (the second "
                  "time scaled by beta); the sums of columns are wanted instead of a pool",
       .options = "vocab_size: how many words there are",
       .snippet = R"(Tensor document = uniform({2, 9, 8}, -1, 1, nn::random());
Tensor query = uniform({2, 4, 8}, -1, 1, nn::random());
Tensor ids = random_integers({2, 9}, 0, 20, nn::random());
Tensor answer = nn::attention_over_attention(
    {.document = document, .query = query, .document_ids = ids}, 20).word_probs;)",
       .run = run_over_attention,
       .example = Example()
                      .inputs({{"document", {4, 5, 3}},
                               {"query", {4, 3, 3}},
                               {"document_ids", ids({4, 5}, 4)},
                               {"document_lens", lengths({5, 3, 0, 4})},
                               {"query_lens", lengths({3, 2, 2, 0})}})
                      .options({{"vocab_size", 4.0}})},
      {.name = "multi_step_attention",
       .title = "ConvS2S: every decoder layer looks at the source again",
       .formula = "d = W_in h + b + g, a = softmax(d . z), c = sum a (z + e), h = h + W_out c "
                  "+ b in each layer",
       .paper = "Gehring et al., 2017, arXiv:1705.03122",
       .made_of = "in each layer score dot, mask lengths, normalise softmax, pool weighted sum",
       .options = "num_layers: how often it looks\n"
                  "conv: whether each layer begins with a causal convolution and a gate\n"
                  "normalise: whether the authors' variance rule scales the sums",
       .snippet = R"(nn::MultiStepAttention decoder(
    {.channels = 8, .embed_dim = 6, .layers = 3, .kernel = 3});
Tensor states = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor g = uniform({2, 5, 6}, -1, 1, nn::random()), z = uniform({2, 7, 6}, -1, 1, nn::random());
Tensor output = decoder.forward(
    {.states = states, .target_embed = g, .enc_out = z, .enc_embed = z}).output;)",
       .run = run_multi_step,
       .example = Example()
                      .inputs({{"states", {3, 3, 4}},
                               {"target_embed", {3, 3, 3}},
                               {"enc_out", {3, 5, 3}},
                               {"enc_embed", {3, 5, 3}},
                               {"valid_lens", lengths({5, 2, 0})}})
                      .parameters_of<MultiStepAttention>(MultiStepOptions{
                          .channels = 4, .embed_dim = 3, .layers = 2, .kernel = 2})
                      .options({{"num_layers", 2.0}, {"conv", true}, {"normalise", true}})},
      {.name = "multi_dimensional_attention",
       .title = "A score for each feature instead of one for each token",
       .formula = "source2token: f = W2 act(W1 x + b1) + b2, output = sum_t softmax_t(f) * "
                  "x_t; token2token: f_ij = c tanh((W1 x_i + W2 x_j + b) / c), context = sum_i "
                  "softmax_i(f_ij) * x_i, output = F x + (1 - F) context",
       .paper = "Shen et al., 2018, arXiv:1709.04696",
       .made_of = "features are heads of one channel: score sum capped by tanh, mask lengths "
                  "and order, normalise softmax, pool weighted sum",
       .options = "kind: source2token or token2token\n"
                  "activation: of source2token, elu in the paper\n"
                  "mask: of token2token, none, forward (i < j) or backward (i > j)\n"
                  "c: of token2token, 5 in the paper",
       .snippet =
           R"(nn::TokenToTokenAttention tokens({.dim = 8, .order = nn::TokenOrder::forward});
nn::SourceToTokenAttention source({.dim = 8});
Tensor x = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor sentence = source.forward(tokens.forward(x).output).output;)",
       .run = run_dimensional,
       .example = Example()
                      .inputs({{"x", {3, 4, 3}}, {"valid_lens", lengths({4, 2, 0})}})
                      .parameters_of<TokenToTokenAttention>(TokenToTokenOptions{.dim = 3})
                      .options({{"kind", "token2token"}, {"mask", "backward"}, {"c", 3.0}})},
      {.name = "cmla",
       .title = "Coupled multi-layer attentions for aspect and opinion terms",
       .formula = "beta_i = tanh([h_i G_m u_m; h_i D_m u_o]), r = GRU(beta), a = softmax(v_m . "
                  "r_i), u_m = tanh(Q_m u_m) + sum a_i h_i, logits_m = C_m sum_layers r_i + b",
       .paper = "Wang, Pan, Dahlmeier, Xiao, 2017 (AAAI)",
       .made_of = "twice in each layer score given (from a GRU), mask lengths, normalise "
                  "softmax, pool weighted sum",
       .options = "num_layers: how often both streams look",
       .snippet = R"(nn::Cmla model({.dim = 8, .slices = 3, .classes = 3, .layers = 2});
Tensor states = uniform({2, 6, 8}, -1, 1, nn::random());
nn::CmlaResult made = model.forward(states);
Tensor aspect_tags = made.aspect.logits, opinion_tags = made.opinion.logits;)",
       .run = run_cmla,
       .example = Example()
                      .inputs({{"states", {3, 4, 3}}, {"valid_lens", lengths({4, 2, 0})}})
                      .parameters_of<Cmla>(CmlaOptions{.dim = 3, .slices = 2, .classes = 3})
                      .options({{"num_layers", 2.0}})},
      {.name = "non_local_transformer",
       .title = "Positions, two non-local blocks and a Transformer layer as one map",
       .formula = "theta(x) = LN2(h + FF(h)), h = LN1(u + SA(u)), u = tau(sigma(x + P))",
       .paper = "a tutorial, read so that it has a meaning; its parts: Wang et al., 2018, "
                "arXiv:1711.07971; Vaswani et al., 2017, arXiv:1706.03762",
       .made_of = "additive positions, twice score dot, no mask, normalise softmax, pool "
                  "weighted sum (sigma, tau), then a layer of the Transformer's encoder",
       .options = "nhead: heads of the layer",
       .snippet = R"(nn::NonLocalTransformer theta(
    {.dim = 8, .inner = 4, .heads = 2, .feed_forward_dim = 16});
Tensor x = uniform({2, 5, 8}, -1, 1, nn::random());
Tensor y = theta.forward(x).output;)",
       .run = run_non_local_transformer,
       .example = Example()
                      .inputs({{"x", {2, 3, 4}}})
                      .parameters_of<NonLocalTransformer>(NonLocalTransformerOptions{
                          .dim = 4, .inner = 2, .heads = 2, .feed_forward_dim = 5})
                      .options({{"nhead", 2.0}})},
      {.name = "memory_network",
       .title = "A question looks several times at sentences it remembers",
       .formula = "m_i = sum_j l_j * A[x_ij] + T_A[i], c_i likewise with C, p = softmax(u . "
                  "m_i), o = sum p_i c_i, u = u + o",
       .paper = "Sukhbaatar, Szlam, Weston, Fergus, 2015, arXiv:1503.08895",
       .made_of = "in each hop score dot, mask lengths, normalise softmax (identity in the "
                  "linear start), pool weighted sum",
       .options = "hops: how often it looks\n"
                  "tying: adjacent or layerwise\n"
                  "position_encoding: whether the order of words counts\n"
                  "temporal: whether each memory has a learnt time\n"
                  "linear_start: weights without softmax, for the first epochs",
       .snippet = R"(nn::MemoryNetwork network({.vocab_size = 20, .dim = 8, .hops = 2});
Tensor memories = random_integers({2, 5, 4}, 0, 20, nn::random());
Tensor question = random_integers({2, 3}, 0, 20, nn::random());
Tensor logits = network.forward({.memories = memories, .question = question}).logits;)",
       .run = run_memory,
       .example = Example()
                      .inputs({{"memories", ids({3, 4, 3}, 6)},
                               {"memory_word_lens",
                                integers({3, 2, 1, 0, 3, 3, 2, 1, 1, 1, 1, 1}, {3, 4})},
                               {"memory_lens", lengths({4, 2, 0})},
                               {"question", ids({3, 4}, 6)},
                               {"question_lens", lengths({4, 1, 2})}})
                      .parameters_of<MemoryNetwork>(MemoryNetworkOptions{
                          .vocab_size = 6, .dim = 3, .hops = 2, .temporal_rows = 5})
                      .options({{"hops", 2.0},
                                {"tying", "adjacent"},
                                {"position_encoding", true},
                                {"temporal", true}})},
      {.name = "key_value_memory",
       .title = "Facts are found by their keys and read as their values",
       .formula =
           "q_0 = A x; p = softmax(q . A k_i), q = R_h (q + sum p_i A v_i); logits = q . B y",
       .paper = "Miller et al., 2016, arXiv:1606.03126",
       .made_of = "in each hop score dot, mask lengths, normalise softmax, pool weighted sum",
       .options = "hops: how often it looks\n"
                  "tie_b: whether answers are read by A",
       .snippet = R"(nn::KeyValueMemory memory({.features = 10, .dim = 8, .hops = 2});
Tensor query = uniform({2, 10}, -1, 1, nn::random());
Tensor keys = uniform({2, 5, 10}, -1, 1, nn::random());
Tensor answers = uniform({4, 10}, -1, 1, nn::random());
Tensor logits = memory.forward(query, keys, keys, answers).logits;)",
       .run = run_key_value,
       .example = Example()
                      .inputs({{"query", {3, 4}},
                               {"keys", {3, 5, 4}},
                               {"values", {3, 5, 4}},
                               {"candidates", {4, 4}},
                               {"valid_lens", lengths({5, 2, 0})}})
                      .parameters_of<KeyValueMemory>(KeyValueMemoryOptions{
                          .features = 4, .dim = 3, .hops = 2, .answers = AnswerMatrix::own})
                      .options({{"hops", 2.0}, {"tie_b", false}})}};
}

}  // namespace attn::nn::adapt
