// Linear attention on the GPU against the CPU: the kernel, and the gradients of its ops.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "attn/core/dtype.hpp"
#include "attn/kernels/route.hpp"
#include "attn/tensor/ops/linear_attention.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"
#include "support/tolerance.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kSteps = 70;
constexpr std::int64_t kChannels = 8;

/// q, k, v, decay of a width (0: none), beta or none, state.
Tensors problem(std::int64_t width, bool delta, DType dtype) {
  Tensors all{random_tensor("q", {2, 4, kSteps, kChannels}),
              random_tensor("k", {2, 2, kSteps, kChannels}, -0.3, 0.3),
              random_tensor("v", {2, 2, kSteps, 5}),
              width > 0 ? random_tensor("decay", {2, 2, kSteps, width}, -1.0, 0.0) : Tensor(),
              delta ? random_tensor("beta", {2, 2, kSteps}, 0.0, 1.0) : Tensor(),
              random_tensor("state", {2, 2, kChannels, 5})};
  for (Tensor& x : all)
    if (x.defined()) x = x.to(dtype);
  return all;
}

Tensors run(const Tensors& x) {
  const LinearAttended result = linear_attention(x[0], x[1], x[2], {x[3], x[4]}, x[5], 0.7);
  return {result.output, result.state};
}

TEST(GpuLinearAttention, AgreesWithTheCpuWithAndWithoutGradients) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::f64})
    for (const std::int64_t width : {std::int64_t{0}, std::int64_t{1}, kChannels})
      for (const bool delta : {false, true}) {
        const Tensors x = problem(width, delta, dtype);
        const double within = dtype == DType::f64 ? kDoubleScore : kFloatModel;
        expect_same_on_gpu("width " + std::to_string(width), x, run, within);
        const NoGrad none;
        const Tensors want = run(x);
        Tensors there;
        for (const Tensor& each : x)
          there.push_back(each.defined() ? each.to(Device::gpu) : each);
        const Tensors got = run(there);
        EXPECT_EQ(last_route(), Route::gpu_linear);
        expect_close(got[0], want[0], within);
        expect_close(got[1], want[1], within);
      }
}

}  // namespace
}  // namespace attn::test
