// Every mechanism of the registry on the GPU: its gradients are finite differences in double.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/nn/gradient_check.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/storage.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::nn {
namespace {

class GpuRegistry : public testing::TestWithParam<std::string> {};

TEST_P(GpuRegistry, EveryGradientIsAFiniteDifference) {
  SKIP_WITHOUT_GPU();
  const Mechanism& mechanism = *find_mechanism(GetParam());
  ASSERT_TRUE(mechanism.example);
  const auto checks = check_gradients(mechanism, {.device = Device::gpu});
  EXPECT_EQ(checks.empty(), !mechanism.no_gradient.empty());
  for (const GradientCheck& check : checks)
    EXPECT_TRUE(check.passed) << check.name << " is off by " << check.worst;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Mechanism* mechanism : mechanisms()) all.push_back(mechanism->name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, GpuRegistry, testing::ValuesIn(names()),
                         [](const auto& mechanism) { return mechanism.param; });

}  // namespace
}  // namespace attn::nn
