// Attentions over attentions, as mechanisms; the others are in register_*.cpp.

#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/composed/attention_over_attention.hpp"
#include "attn/nn/mechanisms/composed/hierarchical_attention.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/composed/mechanisms.hpp"
#include "nn/mechanisms/families.hpp"

namespace attn::nn {
namespace {

SentenceEncoder encoder_of(const Given& given) {
  const std::string encoder = given.options.word("sentence_encoder", "none");
  if (encoder == "none") return SentenceEncoder::none;
  if (encoder == "bigru") return SentenceEncoder::bigru;
  fail("attn::nn: sentence_encoder '", encoder, "'; none and bigru are accepted");
}

Made run_hierarchical(const Given& given) {
  const SentenceEncoder encoder = encoder_of(given);
  const auto module = adapt::loaded(
      HierarchicalAttention(
          {.word_dim = adapt::columns(given, "word.weight"),
           .word_hidden = adapt::rows(given, "word.weight"),
           .sentence_hidden = adapt::rows(given, "sentence.weight"),
           .encoder = encoder,
           .gru_hidden = encoder == SentenceEncoder::none
                             ? 0
                             : adapt::columns(given, "sentence_gru.weight_hh_l0")}),
      given);
  const auto looked = module.forward(given.need("word_states"), given.in("word_lens"),
                                     given.in("sentence_lens"));
  return {{{"word_weights", looked.word_weights},
           {"sentence_vectors", looked.sentence_vectors},
           {"sentence_weights", looked.sentence_weights},
           {"document", looked.document}},
          module.named_parameters()};
}

Mechanism hierarchical() {
  return {
      .name = "hierarchical_attention",
      .family = "composed",
      .title = "Words make sentences, sentences a document",
      .formula =
          "u = tanh(W h + b), a = softmax(u . u_w), s = sum a h; again over sentences "
          "with u_s",
      .paper = "Yang et al., 2016 (NAACL)",
      .made_of =
          "twice score additive with a learnt query, mask lengths, normalise softmax, "
          "pool weighted sum",
      .options = "sentence_encoder: none, or bigru to read the sentences in order",
      .snippet = R"(nn::HierarchicalAttention attention(
    {.word_dim = 8, .word_hidden = 6, .sentence_hidden = 5});
Tensor words = uniform({2, 3, 7, 8}, -1, 1, nn::random());
nn::DocumentLook looked = attention.forward(words);)",
      .header = "attn/nn/mechanisms/composed/hierarchical_attention.hpp",
      .run = run_hierarchical,
      .example =
          [](Random& random) {
            Given given;
            given.inputs["word_states"] = adapt::real(random, {3, 3, 4, 2});
            // An empty sentence in the middle, a short document, an empty one.
            given.inputs["word_lens"] =
                adapt::lengths({4, 0, 2, 1, 3, 0, 0, 0, 0}).reshape({3, 3});
            given.inputs["sentence_lens"] = adapt::lengths({3, 2, 0});
            given.parameters["word.weight"] = adapt::real(random, {3, 2});
            given.parameters["word.bias"] = adapt::real(random, {3});
            given.parameters["u_w"] = adapt::real(random, {3});
            given.parameters["sentence.weight"] = adapt::real(random, {4, 6});
            given.parameters["sentence.bias"] = adapt::real(random, {4});
            given.parameters["u_s"] = adapt::real(random, {4});
            adapt::add_recurrent(given, random, "sentence_gru.", 3, 2, 3, 1, true);
            given.options = {{"sentence_encoder", std::string("bigru")}};
            return given;
          },
  };
}

Mechanism over_attention() {
  return {
      .name = "attention_over_attention",
      .family = "composed",
      .title = "The query's words weigh what each of them found",
      .formula =
          "M = D Q^T, alpha = softmax of M over the document, beta = mean over the "
          "document of softmax of M over the query, s = alpha beta, word_probs(w) = "
          "sum of s_i with id_i = w",
      .paper = "Cui et al., 2017, arXiv:1607.04423",
      .made_of =
          "twice score dot, mask lengths of both sides, normalise softmax (the second "
          "time scaled by beta); the sums of columns are wanted instead of a pool",
      .options = "vocab_size: how many words there are",
      .snippet = R"(Tensor document = uniform({2, 9, 8}, -1, 1, nn::random());
Tensor query = uniform({2, 4, 8}, -1, 1, nn::random());
Tensor ids = random_integers({2, 9}, 0, 20, nn::random());
Tensor answer = nn::attention_over_attention(
    {.document = document, .query = query, .document_ids = ids}, 20).word_probs;)",
      .header = "attn/nn/mechanisms/composed/attention_over_attention.hpp",
      .run =
          [](const Given& given) {
            const auto made = attention_over_attention(
                {.document = given.need("document"),
                 .query = given.need("query"),
                 .document_ids = given.need("document_ids"),
                 .document_lens = given.in("document_lens"),
                 .query_lens = given.in("query_lens")},
                given.options.whole("vocab_size", 0), Want::output | Want::weights);
            return Made{{{"alpha", made.alpha},
                         {"beta", made.beta},
                         {"s", made.s},
                         {"word_probs", made.word_probs}},
                        {}};
          },
      .example =
          [](Random& random) {
            Given given;
            given.inputs["document"] = adapt::real(random, {4, 5, 3});
            given.inputs["query"] = adapt::real(random, {4, 3, 3});
            given.inputs["document_ids"] = adapt::ids(random, {4, 5}, 4);
            given.inputs["document_lens"] = adapt::lengths({5, 3, 0, 4});
            given.inputs["query_lens"] = adapt::lengths({3, 2, 2, 0});
            given.options = {{"vocab_size", 4.0}};
            return given;
          },
  };
}

}  // namespace

std::vector<Mechanism> composed_mechanisms() {
  return {hierarchical(),
          over_attention(),
          composed::multi_step_attention(),
          composed::multi_dimensional_attention(),
          composed::cmla(),
          composed::memory_network(),
          composed::key_value_memory()};
}

}  // namespace attn::nn
