// Text that looks at images, as mechanisms; the others are in register_*.cpp.

#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/vision/box_attention.hpp"
#include "attn/nn/mechanisms/vision/spatial_attention.hpp"
#include "attn/nn/mechanisms/vision/text_score.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/families.hpp"
#include "nn/mechanisms/vision/mechanisms.hpp"

namespace attn::nn {
namespace {

constexpr const char* kScoreOption = "score: additive or general";

TextScoreOptions score_of(const Given& given) {
  const std::string score = given.options.word("score", "additive");
  if (score == "general")
    return {.image_dim = adapt::columns(given, "W_a.weight"),
            .text_dim = adapt::rows(given, "W_a.weight"),
            .kind = TextScoreKind::general};
  if (score != "additive")
    fail("attn::nn: score '", score, "'; additive and general are accepted");
  return {.image_dim = adapt::columns(given, "W_v.weight"),
          .text_dim = adapt::columns(given, "W_t.weight"),
          .hidden_dim = adapt::rows(given, "W_v.weight")};
}

/// The additive score's parameters for 3 channels and a text of 4.
void add_score(Given& given, Random& random) {
  given.parameters["W_v.weight"] = adapt::real(random, {5, 3});
  given.parameters["W_t.weight"] = adapt::real(random, {5, 4});
  given.parameters["W_t.bias"] = adapt::real(random, {5});
  given.parameters["w"] = adapt::real(random, {5});
  given.options.set("score", std::string("additive"));
}

Mechanism spatial() {
  return {
      .name = "spatial_attention",
      .family = "vision",
      .title = "A text looks at the cells of a feature map",
      .formula =
          "s = w . tanh(W_v cell + W_t text + b) or text^T W_a cell; weights = "
          "softmax over all cells, context = sum of weight * cell",
      .paper = "Yang et al., 2016, arXiv:1511.02274",
      .made_of = "score additive or general, mask dense, normalise softmax, pool weighted sum",
      .options = kScoreOption,
      .snippet =
          R"(nn::SpatialAttention attention({.image_dim = 6, .text_dim = 8, .hidden_dim = 5});
Tensor image = uniform({2, 6, 4, 4}, -1, 1, nn::random());
Tensor text = uniform({2, 8}, -1, 1, nn::random());
nn::SpatialLook looked = attention.forward(image, text, {}, Want::weights);)",
      .header = "attn/nn/mechanisms/vision/spatial_attention.hpp",
      .run =
          [](const Given& given) {
            const auto module = adapt::loaded(SpatialAttention(score_of(given)), given);
            const auto looked = module.forward(given.need("image"), given.need("text"),
                                               given.in("mask"), adapt::kBoth);
            return Made{{{"weights", looked.weights}, {"context", looked.context}},
                        module.named_parameters()};
          },
      .example =
          [](Random& random) {
            Given given;
            given.inputs["image"] = adapt::real(random, {3, 3, 2, 3});
            given.inputs["text"] = adapt::real(random, {3, 4});
            const Tensor mask = Tensor::zeros({3, 2, 3}, DType::boolean);
            // All cells of the first image, two of the second, none of the third.
            bool* keep = mask.mutable_data<bool>();
            for (int cell = 0; cell < 6; ++cell) keep[cell] = true;
            keep[7] = keep[10] = true;
            given.inputs["mask"] = mask;
            add_score(given, random);
            return given;
          },
  };
}

Mechanism box() {
  return {
      .name = "box_attention",
      .family = "vision",
      .title = "A text looks at detected boxes, a different number in each image",
      .formula =
          "s = w . tanh(W_v box + W_t text + b) or text^T W_a box; weights = softmax "
          "over the boxes of the image, context = sum of weight * box",
      .paper = "Anderson et al., 2018, arXiv:1707.07998",
      .made_of =
          "score additive or general, mask documents (the images), normalise softmax, "
          "pool weighted sum; nothing is padded",
      .options = kScoreOption,
      .snippet =
          R"(nn::BoxAttention attention({.image_dim = 6, .text_dim = 8, .hidden_dim = 5});
Tensor boxes = uniform({7, 6}, -1, 1, nn::random());
Tensor offsets = Tensor::from(std::vector<std::int64_t>{0, 4, 7}, {3});
Tensor text = uniform({2, 8}, -1, 1, nn::random());
nn::BoxLook looked = attention.forward(boxes, offsets, text, Want::weights);)",
      .header = "attn/nn/mechanisms/vision/box_attention.hpp",
      .run =
          [](const Given& given) {
            const auto module = adapt::loaded(BoxAttention(score_of(given)), given);
            const auto looked = module.forward(given.need("boxes"), given.need("offsets"),
                                               given.need("text"), adapt::kBoth);
            return Made{{{"weights", looked.weights}, {"context", looked.context}},
                        module.named_parameters()};
          },
      .example =
          [](Random& random) {
            Given given;
            given.inputs["boxes"] = adapt::real(random, {6, 3});
            given.inputs["offsets"] = adapt::lengths({0, 4, 4, 6});
            given.inputs["text"] = adapt::real(random, {3, 4});
            add_score(given, random);
            return given;
          },
  };
}

}  // namespace

std::vector<Mechanism> vision_mechanisms() {
  return {vision::non_local_block(),
          spatial(),
          box(),
          vision::co_attention_parallel(),
          vision::co_attention_alternating(),
          vision::question_hierarchy(),
          vision::hierarchical_answer()};
}

}  // namespace attn::nn
