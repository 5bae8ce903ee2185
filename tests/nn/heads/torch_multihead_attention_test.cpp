#include "attn/nn/attention/torch_multihead_attention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"

namespace attn::nn {
namespace {

void expect_near(const Tensor& got, const Tensor& want, const char* what) {
  const auto a = got.detach().to_vector<double>();
  const auto b = want.detach().to_vector<double>();
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], test::kDoubleScore) << what << " " << i;
}

TorchMultiheadAttention layer() {
  seed(3);
  const TorchMultiheadAttention made({.embed_dim = 6, .heads = 3});
  made.to(DType::f64);
  return made;
}

Tensor input(const Shape& shape) {
  Random random(9);
  return normal(shape, 0.0, 1.0, random, DType::f64).set_requires_grad();
}

TEST(TorchMultiheadAttention, ProjectingTogetherEqualsProjectingApart) {
  const Tensor x = input({2, 5, 6});
  const Tensor y = input({2, 5, 6});
  const auto together = layer();
  const auto apart = layer();
  const Tensor a = together.forward(x, x, x).output;
  const Tensor b = apart.forward(y, y.clone(), y.clone()).output;
  expect_near(a, b, "output");
  sum(square(a)).backward();
  sum(square(b)).backward();
  expect_near(x.grad(), y.grad(), "input");
  for (std::size_t i = 0; i < together.parameters().size(); ++i)
    expect_near(together.parameters()[i].grad(), apart.parameters()[i].grad(),
                together.named_parameters()[i].name.c_str());
}

TEST(TorchMultiheadAttention, KeepEqualsTheOppositeMask) {
  const Tensor x = input({2, 4, 6});
  const Tensor above = Tensor::zeros({4, 4}, DType::boolean);
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) above.mutable_data<bool>()[4 * i + j] = true;
  TorchMasks ignore;
  ignore.attn_mask = above;
  TorchMasks keep;
  keep.keep = spec::causal();
  expect_near(layer().forward(x, x, x, keep).output, layer().forward(x, x, x, ignore).output,
              "output");
}

TEST(TorchMultiheadAttention, MinusInfinityPassesNoNan) {
  const auto attention = layer();
  const Tensor x = input({1, 2, 6});
  const double inf = std::numeric_limits<double>::infinity();
  Tensor mask = Tensor::from(std::vector<double>{0.5, -inf, -inf, -inf}, {2, 2});
  TorchMasks masks;
  masks.attn_mask = mask.set_requires_grad();
  const Attended looked = attention.forward(x, x, x, masks, Want::output | Want::weights);
  EXPECT_EQ(looked.weights.select(2, 1).to_vector<double>(), (std::vector<double>(6, 0.0)));
  sum(looked.output).backward();
  for (const double g : mask.grad().to_vector<double>()) EXPECT_EQ(g, 0.0);
  for (const double g : x.grad().to_vector<double>()) EXPECT_TRUE(std::isfinite(g));
}

TEST(TorchMultiheadAttention, DropsWeightsInTrainingAlone) {
  seed(4);
  TorchMultiheadAttention attention({.embed_dim = 4, .heads = 2, .dropout = 0.5});
  Random random(2);
  const Tensor x = normal({1, 6, 4}, 0.0, 1.0, random);
  const auto weights = [&] {
    return attention.forward(x, x, x, {}, Want::weights).weights.to_vector<float>();
  };
  EXPECT_NE(weights(), weights());
  attention.eval();
  EXPECT_EQ(weights(), weights());
  for (const float w : weights()) EXPECT_GT(w, 0.0f);
}

TEST(TorchMultiheadAttention, RefusesWhatItCannotServe) {
  EXPECT_THROW(TorchMultiheadAttention({.embed_dim = 5, .heads = 2}), InvalidArgument);
  const TorchMultiheadAttention attention(
      {.embed_dim = 4, .heads = 2, .appended = AppendedKeys::zero});
  const Tensor x = Tensor::zeros({1, 3, 4});
  TorchMasks causal;
  causal.keep = spec::causal();
  EXPECT_THROW(attention.forward(x, x, x, causal), InvalidArgument);
  TorchMasks wrong;
  wrong.attn_mask = Tensor::zeros({3, 3, 3}, DType::boolean);
  EXPECT_THROW(attention.forward(x, x, x, wrong), InvalidArgument);
}

}  // namespace
}  // namespace attn::nn
