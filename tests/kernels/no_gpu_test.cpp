// A build without CUDA refuses every GPU entry point and says why.

#include <gtest/gtest.h>

#include <string>

#include "attn/core/error.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/recipe.hpp"

namespace attn {
namespace {

TEST(Gpu, ABuildWithoutCudaSaysSo) {
  const std::string what = gpu::describe();
  EXPECT_FALSE(what.empty());
  if (what.find("no CUDA") == std::string::npos) GTEST_SKIP() << "built with CUDA: " << what;
  EXPECT_FALSE(gpu::available());
  EXPECT_THROW(gpu::forward(ForwardArgs<float>{}, Recipe{}), Unsupported);
  EXPECT_THROW(gpu::backward_workspace(BackwardArgs<float>{}), Unsupported);
}

}  // namespace
}  // namespace attn
