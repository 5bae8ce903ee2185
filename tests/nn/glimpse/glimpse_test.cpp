#include "attn/nn/mechanisms/glimpse/glimpse.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse_policy.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

TEST(Glimpse, SeesZerosOutsideTheImage) {
  const Tensor image = Tensor::full({1, 1, 4, 4}, 1.0);
  const Tensor corner = Tensor::from(std::vector<float>{-1.0f, -1.0f}, {1, 2});
  const auto patch = glimpse(image, corner, {.patch_size = 2}).to_vector<float>();
  EXPECT_EQ(patch, (std::vector<float>{0.0f, 0.0f, 0.0f, 1.0f}));
}

TEST(Glimpse, CoarserScalesAverageBlocks) {
  const Tensor image = Tensor::from(std::vector<float>{1, 3, 5, 7}, {1, 1, 2, 2});
  const Tensor middle = Tensor::zeros({1, 2});
  const Tensor patches = glimpse(image, middle, {.patch_size = 1, .num_scales = 2, .scale = 2});
  EXPECT_EQ(patches.to_vector<float>(), (std::vector<float>{7.0f, 4.0f}));
}

TEST(Glimpse, RefusesWhatIsNoPlace) {
  const Tensor image = Tensor::zeros({1, 1, 4, 4});
  const Tensor nowhere =
      Tensor::from(std::vector<float>{std::numeric_limits<float>::quiet_NaN(), 0.0f}, {1, 2});
  EXPECT_THROW(glimpse(image, nowhere), InvalidArgument);
  EXPECT_THROW(glimpse(image, Tensor::zeros({2, 2})), InvalidArgument);
}

TEST(GlimpsePolicy, AStepMayHaveARewardOfItsOwn) {
  seed(3);
  const GlimpsePolicy policy({.hidden_dim = 4, .sigma = 0.3});
  const Tensor hidden = standard_normal({2, 3, 4});
  const Tensor sample = standard_normal({2, 3, 2});
  const Tensor reward = Tensor::from(std::vector<float>{1.0f, -0.5f}, {2});
  const Tensor each = reward.unsqueeze(1).expand({2, 3}).contiguous();
  const GlimpsePolicyResult of_all = policy.forward(hidden, sample, reward);
  const GlimpsePolicyResult of_each = policy.forward(hidden, sample, each);
  EXPECT_EQ(of_all.reinforce_loss.item(), of_each.reinforce_loss.item());
  EXPECT_EQ(of_all.baseline_loss.item(), of_each.baseline_loss.item());
  each.mutable_data<float>()[2] += 1.0f;
  EXPECT_NE(of_all.baseline_loss.item(),
            policy.forward(hidden, sample, each).baseline_loss.item());
  EXPECT_THROW(policy.forward(hidden, sample, hidden), InvalidArgument);
}

}  // namespace
}  // namespace attn::nn
