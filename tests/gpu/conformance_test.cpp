// The cases of others, on the GPU: every one must pass there.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "attn/kernels/gpu/device.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/conformance/run.hpp"

namespace attn::test {
namespace {

void expect_all_pass(const std::string& suite) {
  if (!gpu::available()) GTEST_SKIP() << "no GPU: " << gpu::describe();
  const auto folder = std::filesystem::path(ATTN_TEST_DATA) / suite;
  for (const auto& path : conformance::find_cases(folder)) {
    const conformance::Outcome outcome = conformance::run_case(path, {.device = Device::gpu});
    EXPECT_TRUE(outcome.passed) << outcome.name << ": " << outcome.message;
  }
}

TEST(GpuConformance, EveryOnnxCasePasses) {
  expect_all_pass("onnx");
}

TEST(GpuConformance, EveryMechanismPassesWithItsGradients) {
  expect_all_pass("mechanisms");
}

}  // namespace
}  // namespace attn::test
