#include "attn/nn/mechanisms/vision/spatial_attention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/vision/box_attention.hpp"
#include "attn/nn/mechanisms/vision/non_local_block.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"

namespace attn::nn {
namespace {

constexpr TextScoreOptions kOptions{.image_dim = 2, .text_dim = 3, .hidden_dim = 4};

TEST(SpatialAttention, MaskedCellsAreNotRead) {
  for (const auto kind : {TextScoreKind::additive, TextScoreKind::general}) {
    TextScoreOptions options = kOptions;
    options.kind = kind;
    const SpatialAttention attention(options);
    Tensor image = uniform({1, 2, 2, 2}, -1, 1, random());
    image.mutable_data<float>()[3] = std::numeric_limits<float>::quiet_NaN();
    image.set_requires_grad();
    Tensor mask = Tensor::full({1, 2, 2}, 1.0, DType::boolean);
    mask.mutable_data<bool>()[3] = false;
    const auto looked = attention.forward(image, uniform({1, 3}, -1, 1, random()), mask,
                                          Want::output | Want::weights);
    (sum(looked.context) + sum(square(looked.weights))).backward();
    EXPECT_EQ(image.grad().to_vector<float>()[3], 0.0f);
    for (const Tensor& parameter : attention.parameters())
      for (const float grad : parameter.grad().to_vector<float>())
        EXPECT_TRUE(std::isfinite(grad));
  }
}

TEST(BoxAttention, BoxesOfOneImageAreThoseOfItsGrid) {
  const BoxAttention by_box(kOptions);
  const SpatialAttention by_cell(kOptions);
  for (std::size_t i = 0; i < by_box.parameters().size(); ++i) {
    Tensor to = by_cell.parameters()[i].detach();
    to.copy_from(by_box.parameters()[i].detach());
  }
  const Tensor boxes = uniform({6, 2}, -1, 1, random());
  const Tensor text = uniform({1, 3}, -1, 1, random());
  const Tensor offsets = Tensor::from(std::vector<std::int64_t>{0, 6}, {2});
  const Tensor image = boxes.transpose(0, 1).reshape({1, 2, 2, 3});
  const auto a = by_box.forward(boxes, offsets, text, Want::weights);
  const auto b = by_cell.forward(image, text, {}, Want::weights);
  EXPECT_LT(sum(abs(a.weights - b.weights.reshape({6}))).item(), 1e-5);
  EXPECT_LT(sum(abs(a.context - b.context)).item(), 1e-5);
}

TEST(BoxAttention, OffsetsThatMissBoxesAreRefused) {
  const BoxAttention attention(kOptions);
  const Tensor boxes = Tensor::zeros({3, 2});
  const Tensor text = Tensor::zeros({1, 3});
  for (const auto& ends : {std::vector<std::int64_t>{0, 2}, {1, 3}})
    EXPECT_THROW(attention.forward(boxes, Tensor::from(ends, {2}), text), InvalidArgument);
}

TEST(NonLocalBlock, BeginsAsTheIdentity) {
  const NonLocalBlock block({.channels = 3, .inner = 2, .grid_rank = 3});
  const Tensor x = uniform({2, 3, 2, 3, 2}, -1, 1, random());
  EXPECT_EQ(block.forward(x).z.to_vector<float>(), x.to_vector<float>());
}

}  // namespace
}  // namespace attn::nn
