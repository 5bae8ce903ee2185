// Grids of cells, texts that look at images, images and questions together, as mechanisms.

#include <vector>

#include "attn/nn/mechanisms/vision/box_attention.hpp"
#include "attn/nn/mechanisms/vision/co_attention_alternating.hpp"
#include "attn/nn/mechanisms/vision/co_attention_parallel.hpp"
#include "attn/nn/mechanisms/vision/hierarchical_answer.hpp"
#include "attn/nn/mechanisms/vision/non_local_block.hpp"
#include "attn/nn/mechanisms/vision/question_hierarchy.hpp"
#include "attn/nn/mechanisms/vision/spatial_attention.hpp"
#include "attn/nn/mechanisms/vision/text_score.hpp"
#include "attn/tensor/attend.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

NonLocalMode mode_of(const MechanismCall& call) {
  return choice<NonLocalMode>("attn::nn: non-local mode",
                              call.options.word("mode", "embedded_gaussian"),
                              {{"gaussian", NonLocalMode::gaussian},
                               {"embedded_gaussian", NonLocalMode::embedded_gaussian},
                               {"dot", NonLocalMode::dot},
                               {"concat", NonLocalMode::concat}});
}

MechanismResult run_non_local(const MechanismCall& call) {
  const auto block =
      loaded(NonLocalBlock({.channels = columns(call, "g.weight"),
                            .inner = rows(call, "g.weight"),
                            .grid_rank = call.need("x").rank() - 2,
                            .mode = mode_of(call),
                            .pool = call.options.flag("pool", false) ? GridPool::by_two
                                                                     : GridPool::none}),
             call);
  const NonLocalResult result = block.forward(call.need("x"), kBoth);
  return {{{"weights", result.weights}, {"y", result.y}, {"z", result.z}},
          block.named_parameters()};
}

constexpr const char* kScoreOption = "score: additive or general";

TextScoreOptions score_of(const MechanismCall& call) {
  const auto kind = choice<TextScoreKind>(
      "attn::nn: score", call.options.word("score", "additive"),
      {{"additive", TextScoreKind::additive}, {"general", TextScoreKind::general}});
  if (kind == TextScoreKind::general)
    return {.image_dim = columns(call, "W_a.weight"),
            .text_dim = rows(call, "W_a.weight"),
            .kind = kind};
  return {.image_dim = columns(call, "W_v.weight"),
          .text_dim = columns(call, "W_t.weight"),
          .hidden_dim = rows(call, "W_v.weight")};
}

/// A text of 4 and the additive score's parameters for 3 channels.
Example text_example() {
  return Example()
      .inputs({{"text", {3, 4}}})
      .parameters(
          {{"W_v.weight", {5, 3}}, {"W_t.weight", {5, 4}}, {"W_t.bias", {5}}, {"w", {5}}})
      .options({{"score", "additive"}});
}

MechanismResult run_spatial(const MechanismCall& call) {
  const auto module = loaded(SpatialAttention(score_of(call)), call);
  const auto attended =
      module.forward(call.need("image"), call.need("text"), call.in("mask"), kBoth);
  return {{{"weights", attended.weights}, {"context", attended.context}},
          module.named_parameters()};
}

MechanismResult run_box(const MechanismCall& call) {
  const auto module = loaded(BoxAttention(score_of(call)), call);
  const auto attended =
      module.forward(call.need("boxes"), call.need("offsets"), call.need("text"), kBoth);
  return {{{"weights", attended.weights}, {"context", attended.context}},
          module.named_parameters()};
}

constexpr const char* kLu = "Lu, Yang, Batra, Parikh, 2016, arXiv:1606.00061";

CoAttentionInputs sides_of(const MechanismCall& call) {
  return {.image = call.need("image"),
          .question = call.need("question"),
          .image_lens = call.in("image_lens"),
          .question_lens = call.in("question_lens")};
}

/// Three pairs: the second with a short question, the third without an image.
Example sides_example() {
  return Example().inputs({{"image", {3, 4, 3}},
                           {"question", {3, 5, 2}},
                           {"image_lens", lengths({4, 3, 0})},
                           {"question_lens", lengths({5, 2, 4})}});
}

MechanismResult run_parallel(const MechanismCall& call) {
  const auto module = loaded(ParallelCoAttention({.image_dim = columns(call, "W_v.weight"),
                                                  .question_dim = columns(call, "W_q.weight"),
                                                  .hidden_dim = rows(call, "W_v.weight")}),
                             call);
  const auto attended = module.forward(sides_of(call), kBoth);
  return {{{"affinity", attended.affinity},
           {"image_weights", attended.image_weights},
           {"question_weights", attended.question_weights},
           {"image_vector", attended.image_vector},
           {"question_vector", attended.question_vector}},
          module.named_parameters()};
}

MechanismResult run_alternating(const MechanismCall& call) {
  const auto module =
      loaded(AlternatingCoAttention({.image_dim = columns(call, "step2.W_x.weight"),
                                     .question_dim = columns(call, "step1.W_x.weight"),
                                     .hidden_dim = rows(call, "step1.W_x.weight"),
                                     .image_hidden_dim = rows(call, "step2.W_x.weight"),
                                     .question_hidden_dim = rows(call, "step3.W_x.weight")}),
             call);
  const auto attended = module.forward(sides_of(call));
  return {{{"summary_weights", attended.summary_weights},
           {"summary", attended.summary},
           {"image_weights", attended.image_weights},
           {"image_vector", attended.image_vector},
           {"question_weights", attended.question_weights},
           {"question_vector", attended.question_vector}},
          module.named_parameters()};
}

MechanismResult run_hierarchy(const MechanismCall& call) {
  const auto module =
      loaded(QuestionHierarchy({.word_dim = columns(call, "conv1.weight"),
                                .phrase_dim = rows(call, "conv1.weight"),
                                .hidden_dim = columns(call, "lstm.weight_hh_l0")}),
             call);
  const auto levels = module.forward(call.need("words"), call.in("valid_lens"));
  return {{{"phrase", levels.phrase}, {"question", levels.question}},
          module.named_parameters()};
}

MechanismResult run_answer(const MechanismCall& call) {
  const auto module = loaded(HierarchicalAnswer({.dim = columns(call, "W_w.weight"),
                                                 .word_hidden = rows(call, "W_w.weight"),
                                                 .phrase_hidden = rows(call, "W_p.weight"),
                                                 .question_hidden = rows(call, "W_s.weight"),
                                                 .answers = rows(call, "W_h.weight")}),
                             call);
  return {{{"logits", module.forward({call.need("q_word"), call.need("v_word")},
                                     {call.need("q_phrase"), call.need("v_phrase")},
                                     {call.need("q_question"), call.need("v_question")})}},
          module.named_parameters()};
}

}  // namespace

std::vector<Mechanism> vision_mechanisms() {
  return {
      {.name = "non_local_block",
       .title = "The non-local block: every cell of a grid looks at every other",
       .formula = "y_i = (1 / C) sum_j f(x_i, x_j) g(x_j), z = W_z y + x",
       .paper = "Wang, Girshick, Gupta, He, 2018, arXiv:1711.07971",
       .made_of =
           "score dot (concat: given), no mask, normalise softmax or mean, pool weighted sum",
       .options = "mode: gaussian, embedded_gaussian, dot or concat\n"
                  "pool: whether keys and values are max-pooled by 2 in every direction",
       .snippet = R"(nn::NonLocalBlock block({.channels = 6, .inner = 3, .grid_rank = 2});
Tensor x = uniform({2, 6, 4, 4}, -1, 1, nn::random());
nn::NonLocalResult made = block.forward(x, Want::output | Want::weights);)",
       .run = run_non_local,
       .example = Example()
                      .inputs({{"x", {2, 3, 4, 5}}})
                      .parameters_of<NonLocalBlock>(
                          NonLocalBlockOptions{.channels = 3, .inner = 2, .grid_rank = 2})
                      .options({{"mode", "embedded_gaussian"}, {"pool", true}})},
      {.name = "spatial_attention",
       .title = "A text looks at the cells of a feature map",
       .formula = "s = w . tanh(W_v cell + W_t text + b) or text^T W_a cell; weights = softmax "
                  "over all cells, context = sum of weight * cell",
       .paper = "Yang et al., 2016, arXiv:1511.02274",
       .made_of = "score additive or general, mask dense, normalise softmax, pool weighted sum",
       .options = kScoreOption,
       .snippet =
           R"(nn::SpatialAttention attention({.image_dim = 6, .text_dim = 8, .hidden_dim = 5});
Tensor image = uniform({2, 6, 4, 4}, -1, 1, nn::random());
Tensor text = uniform({2, 8}, -1, 1, nn::random());
nn::SpatialLook looked = attention.forward(image, text, {}, Want::weights);)",
       .run = run_spatial,
       // All cells of the first image, two of the second, none of the third.
       .example = text_example().inputs(
           {{"image", {3, 3, 2, 3}}, {"mask", flags({3, 2, 3}, {0, 1, 2, 3, 4, 5, 7, 10})}})},
      {.name = "box_attention",
       .title = "A text looks at detected boxes, a different number in each image",
       .formula = "s = w . tanh(W_v box + W_t text + b) or text^T W_a box; weights = softmax "
                  "over the boxes of the image, context = sum of weight * box",
       .paper = "Anderson et al., 2018, arXiv:1707.07998",
       .made_of = "score additive or general, mask documents (the images), normalise softmax, "
                  "pool weighted sum; nothing is padded",
       .options = kScoreOption,
       .snippet =
           R"(nn::BoxAttention attention({.image_dim = 6, .text_dim = 8, .hidden_dim = 5});
Tensor boxes = uniform({7, 6}, -1, 1, nn::random());
Tensor offsets = Tensor::from(std::vector<std::int64_t>{0, 4, 7}, {3});
Tensor text = uniform({2, 8}, -1, 1, nn::random());
nn::BoxLook looked = attention.forward(boxes, offsets, text, Want::weights);)",
       .run = run_box,
       .example =
           text_example().inputs({{"boxes", {6, 3}}, {"offsets", lengths({0, 4, 4, 6})}})},
      {.name = "co_attention_parallel",
       .title = "Co-attention: image and question look at each other at once",
       .formula = "C = tanh(Q W_b V^T), H_v = tanh(W_v V + C^T (W_q Q)), H_q = tanh(W_q Q + C "
                  "(W_v V)), a = softmax(w_h . H)",
       .paper = kLu,
       .made_of = "twice score dot capped by tanh, mask lengths of both sides, no normaliser, "
                  "pool weighted sum; then twice score additive, normalise softmax",
       .snippet =
           R"(nn::ParallelCoAttention attention({.image_dim = 6, .question_dim = 8, .hidden_dim = 5});
Tensor image = uniform({2, 9, 6}, -1, 1, nn::random());
Tensor question = uniform({2, 4, 8}, -1, 1, nn::random());
nn::CoAttentionLook looked = attention.forward({.image = image, .question = question});)",
       .run = run_parallel,
       .example = sides_example().parameters_of<ParallelCoAttention>(
           CoAttentionOptions{.image_dim = 3, .question_dim = 2, .hidden_dim = 4})},
      {.name = "co_attention_alternating",
       .title = "Co-attention in turns: question, image, question again",
       .formula = "A(X; g) = sum a x with a = softmax(w_h . tanh(W_x x + W_g g)); summary = "
                  "A1(Q), v = A2(V; summary), q = A3(Q; v)",
       .paper = kLu,
       .made_of =
           "three times score additive, mask lengths, normalise softmax, pool weighted sum",
       .snippet =
           R"(nn::AlternatingCoAttention attention({.image_dim = 6, .question_dim = 8, .hidden_dim = 5});
Tensor image = uniform({2, 9, 6}, -1, 1, nn::random());
Tensor question = uniform({2, 4, 8}, -1, 1, nn::random());
nn::AlternatingLook looked = attention.forward({.image = image, .question = question});)",
       .run = run_alternating,
       .example = sides_example().parameters_of<AlternatingCoAttention>(
           AlternatingCoAttentionOptions{.image_dim = 3, .question_dim = 2, .hidden_dim = 4})},
      {.name = "question_hierarchy",
       .title = "Words, phrases, question: the three levels a question is read at",
       .formula = "p_{s,t} = tanh(W_s q_{t..t+s-1} + b_s), phrase_t = max_{s = 1, 2, 3} "
                  "p_{s,t}, question = LSTM(phrase)",
       .paper = kLu,
       .made_of = "outside the four steps: convolutions and a recurrent layer make what "
                  "co-attention looks at",
       .snippet =
           R"(nn::QuestionHierarchy levels({.word_dim = 8, .phrase_dim = 6, .hidden_dim = 5});
Tensor words = uniform({2, 7, 8}, -1, 1, nn::random());
Tensor lengths = Tensor::from(std::vector<std::int64_t>{7, 3}, {2});
nn::QuestionLevels read = levels.forward(words, lengths);)",
       .run = run_hierarchy,
       .example = Example()
                      .inputs({{"words", {3, 4, 3}}, {"valid_lens", lengths({4, 2, 0})}})
                      .parameters_of<QuestionHierarchy>(QuestionHierarchyOptions{
                          .word_dim = 3, .phrase_dim = 4, .hidden_dim = 3})},
      {.name = "hierarchical_answer",
       .title = "The answer from word, phrase and question, one after another",
       .formula = "h_w = tanh(W_w (q_w + v_w)), h_p = tanh(W_p [q_p + v_p; h_w]), h_s = "
                  "tanh(W_s [q_s + v_s; h_p]), logits = W_h h_s",
       .paper = kLu,
       .made_of = "outside the four steps: it joins what three co-attentions found",
       .snippet =
           R"(nn::HierarchicalAnswer answer({.dim = 6, .word_hidden = 5, .phrase_hidden = 5,
                               .question_hidden = 7, .answers = 4});
Tensor q = uniform({2, 6}, -1, 1, nn::random());
Tensor v = uniform({2, 6}, -1, 1, nn::random());
Tensor logits = answer.forward({q, v}, {q, v}, {q, v});)",
       .run = run_answer,
       .example = Example()
                      .inputs({{"q_word", {3, 2}},
                               {"v_word", {3, 2}},
                               {"q_phrase", {3, 2}},
                               {"v_phrase", {3, 2}},
                               {"q_question", {3, 2}},
                               {"v_question", {3, 2}}})
                      .parameters_of<HierarchicalAnswer>(
                          HierarchicalAnswerOptions{.dim = 2,
                                                    .word_hidden = 3,
                                                    .phrase_hidden = 4,
                                                    .question_hidden = 5,
                                                    .answers = 3})}};
}

}  // namespace attn::nn::adapt
