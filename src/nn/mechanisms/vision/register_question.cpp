// Image and question together, as mechanisms.

#include <cstdint>
#include <string>

#include "attn/nn/mechanisms/vision/co_attention_alternating.hpp"
#include "attn/nn/mechanisms/vision/co_attention_parallel.hpp"
#include "attn/nn/mechanisms/vision/hierarchical_answer.hpp"
#include "attn/nn/mechanisms/vision/question_hierarchy.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/vision/mechanisms.hpp"

namespace attn::nn::vision {
namespace {

constexpr const char* kLu = "Lu, Yang, Batra, Parikh, 2016, arXiv:1606.00061";

CoAttentionInputs sides_of(const Given& given) {
  return {.image = given.need("image"),
          .question = given.need("question"),
          .image_lens = given.in("image_lens"),
          .question_lens = given.in("question_lens")};
}

/// Three pairs: the second with a short question, the third without an image.
Given sides_example(Random& random) {
  Given given;
  given.inputs["image"] = adapt::real(random, {3, 4, 3});
  given.inputs["question"] = adapt::real(random, {3, 5, 2});
  given.inputs["image_lens"] = adapt::lengths({4, 3, 0});
  given.inputs["question_lens"] = adapt::lengths({5, 2, 4});
  return given;
}

Made run_parallel(const Given& given) {
  const auto module =
      adapt::loaded(ParallelCoAttention({.image_dim = adapt::columns(given, "W_v.weight"),
                                         .question_dim = adapt::columns(given, "W_q.weight"),
                                         .hidden_dim = adapt::rows(given, "W_v.weight")}),
                    given);
  const auto looked = module.forward(sides_of(given), Want::output | Want::weights);
  return {{{"affinity", looked.affinity},
           {"image_weights", looked.image_weights},
           {"question_weights", looked.question_weights},
           {"image_vector", looked.image_vector},
           {"question_vector", looked.question_vector}},
          module.named_parameters()};
}

Made run_alternating(const Given& given) {
  const auto module = adapt::loaded(
      AlternatingCoAttention({.image_dim = adapt::columns(given, "step2.W_x.weight"),
                              .question_dim = adapt::columns(given, "step1.W_x.weight"),
                              .hidden_dim = adapt::rows(given, "step1.W_x.weight"),
                              .image_hidden_dim = adapt::rows(given, "step2.W_x.weight"),
                              .question_hidden_dim = adapt::rows(given, "step3.W_x.weight")}),
      given);
  const auto looked = module.forward(sides_of(given));
  return {{{"summary_weights", looked.summary_weights},
           {"summary", looked.summary},
           {"image_weights", looked.image_weights},
           {"image_vector", looked.image_vector},
           {"question_weights", looked.question_weights},
           {"question_vector", looked.question_vector}},
          module.named_parameters()};
}

Made run_hierarchy(const Given& given) {
  const auto module = adapt::loaded(
      QuestionHierarchy({.word_dim = adapt::columns(given, "conv1.weight"),
                         .phrase_dim = adapt::rows(given, "conv1.weight"),
                         .hidden_dim = adapt::columns(given, "lstm.weight_hh_l0")}),
      given);
  const auto levels = module.forward(given.need("words"), given.in("valid_lens"));
  return {{{"phrase", levels.phrase}, {"question", levels.question}},
          module.named_parameters()};
}

Made run_answer(const Given& given) {
  const auto module =
      adapt::loaded(HierarchicalAnswer({.dim = adapt::columns(given, "W_w.weight"),
                                        .word_hidden = adapt::rows(given, "W_w.weight"),
                                        .phrase_hidden = adapt::rows(given, "W_p.weight"),
                                        .question_hidden = adapt::rows(given, "W_s.weight"),
                                        .answers = adapt::rows(given, "W_h.weight")}),
                    given);
  return {{{"logits", module.forward({given.need("q_word"), given.need("v_word")},
                                     {given.need("q_phrase"), given.need("v_phrase")},
                                     {given.need("q_question"), given.need("v_question")})}},
          module.named_parameters()};
}

}  // namespace

Mechanism co_attention_parallel() {
  return {
      .name = "co_attention_parallel",
      .family = "vision",
      .title = "Co-attention: image and question look at each other at once",
      .formula =
          "C = tanh(Q W_b V^T), H_v = tanh(W_v V + C^T (W_q Q)), H_q = tanh(W_q Q + "
          "C (W_v V)), a = softmax(w_h . H)",
      .paper = kLu,
      .made_of =
          "twice score dot capped by tanh, mask lengths of both sides, no normaliser, "
          "pool weighted sum; then twice score additive, normalise softmax",
      .options = "",
      .snippet =
          R"(nn::ParallelCoAttention attention({.image_dim = 6, .question_dim = 8, .hidden_dim = 5});
Tensor image = uniform({2, 9, 6}, -1, 1, nn::random());
Tensor question = uniform({2, 4, 8}, -1, 1, nn::random());
nn::CoAttentionLook looked = attention.forward({.image = image, .question = question});)",
      .header = "attn/nn/mechanisms/vision/co_attention_parallel.hpp",
      .run = run_parallel,
      .example =
          [](Random& random) {
            Given given = sides_example(random);
            given.parameters["W_b.weight"] = adapt::real(random, {2, 3});
            given.parameters["W_v.weight"] = adapt::real(random, {4, 3});
            given.parameters["W_q.weight"] = adapt::real(random, {4, 2});
            given.parameters["w_hv"] = adapt::real(random, {4});
            given.parameters["w_hq"] = adapt::real(random, {4});
            return given;
          },
  };
}

Mechanism co_attention_alternating() {
  return {
      .name = "co_attention_alternating",
      .family = "vision",
      .title = "Co-attention in turns: question, image, question again",
      .formula =
          "A(X; g) = sum a x with a = softmax(w_h . tanh(W_x x + W_g g)); summary = "
          "A1(Q), v = A2(V; summary), q = A3(Q; v)",
      .paper = kLu,
      .made_of =
          "three times score additive, mask lengths, normalise softmax, pool weighted "
          "sum",
      .options = "",
      .snippet =
          R"(nn::AlternatingCoAttention attention({.image_dim = 6, .question_dim = 8, .hidden_dim = 5});
Tensor image = uniform({2, 9, 6}, -1, 1, nn::random());
Tensor question = uniform({2, 4, 8}, -1, 1, nn::random());
nn::AlternatingLook looked = attention.forward({.image = image, .question = question});)",
      .header = "attn/nn/mechanisms/vision/co_attention_alternating.hpp",
      .run = run_alternating,
      .example =
          [](Random& random) {
            Given given = sides_example(random);
            const auto step = [&](const std::string& name, std::int64_t item,
                                  std::int64_t guide) {
              given.parameters[name + ".W_x.weight"] = adapt::real(random, {4, item});
              if (guide > 0)
                given.parameters[name + ".W_g.weight"] = adapt::real(random, {4, guide});
              given.parameters[name + ".w_h"] = adapt::real(random, {4});
            };
            step("step1", 2, 0);
            step("step2", 3, 2);
            step("step3", 2, 3);
            return given;
          },
  };
}

Mechanism question_hierarchy() {
  return {
      .name = "question_hierarchy",
      .family = "vision",
      .title = "Words, phrases, question: the three levels a question is read at",
      .formula =
          "p_{s,t} = tanh(W_s q_{t..t+s-1} + b_s), phrase_t = max_{s = 1, 2, 3} p_{s,t}, "
          "question = LSTM(phrase)",
      .paper = kLu,
      .made_of =
          "outside the four steps: convolutions and a recurrent layer make what "
          "co-attention looks at",
      .options = "",
      .snippet =
          R"(nn::QuestionHierarchy levels({.word_dim = 8, .phrase_dim = 6, .hidden_dim = 5});
Tensor words = uniform({2, 7, 8}, -1, 1, nn::random());
Tensor lengths = Tensor::from(std::vector<std::int64_t>{7, 3}, {2});
nn::QuestionLevels read = levels.forward(words, lengths);)",
      .header = "attn/nn/mechanisms/vision/question_hierarchy.hpp",
      .run = run_hierarchy,
      .example =
          [](Random& random) {
            Given given;
            given.inputs["words"] = adapt::real(random, {3, 4, 3});
            given.inputs["valid_lens"] = adapt::lengths({4, 2, 0});
            for (std::int64_t s = 1; s <= 3; ++s) {
              const std::string name = "conv" + std::to_string(s);
              given.parameters[name + ".weight"] = adapt::real(random, {4, 3, s}) * 0.5;
              given.parameters[name + ".bias"] = adapt::real(random, {4}) * 0.5;
            }
            adapt::add_recurrent(given, random, "lstm.", 4, 4, 3);
            return given;
          },
  };
}

Mechanism hierarchical_answer() {
  return {
      .name = "hierarchical_answer",
      .family = "vision",
      .title = "The answer from word, phrase and question, one after another",
      .formula =
          "h_w = tanh(W_w (q_w + v_w)), h_p = tanh(W_p [q_p + v_p; h_w]), h_s = "
          "tanh(W_s [q_s + v_s; h_p]), logits = W_h h_s",
      .paper = kLu,
      .made_of = "outside the four steps: it joins what three co-attentions found",
      .options = "",
      .snippet =
          R"(nn::HierarchicalAnswer answer({.dim = 6, .word_hidden = 5, .phrase_hidden = 5,
                               .question_hidden = 7, .answers = 4});
Tensor q = uniform({2, 6}, -1, 1, nn::random());
Tensor v = uniform({2, 6}, -1, 1, nn::random());
Tensor logits = answer.forward({q, v}, {q, v}, {q, v});)",
      .header = "attn/nn/mechanisms/vision/hierarchical_answer.hpp",
      .run = run_answer,
      .example =
          [](Random& random) {
            Given given;
            for (const char* level : {"word", "phrase", "question"}) {
              given.inputs[std::string("q_") + level] = adapt::real(random, {3, 2});
              given.inputs[std::string("v_") + level] = adapt::real(random, {3, 2});
            }
            const auto map = [&](const std::string& name, std::int64_t out, std::int64_t in) {
              given.parameters[name + ".weight"] = adapt::real(random, {out, in});
              given.parameters[name + ".bias"] = adapt::real(random, {out});
            };
            map("W_w", 3, 2);
            map("W_p", 4, 5);
            map("W_s", 5, 6);
            map("W_h", 3, 5);
            return given;
          },
  };
}

}  // namespace attn::nn::vision
