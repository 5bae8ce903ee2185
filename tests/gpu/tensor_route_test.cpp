// The routes of attend() on the GPU: what is said is what runs, forced ones agree, and
// decoding, caches, pages and packed sequences give what the CPU gives.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/route.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/kv_cache.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

using spec::Sequences;

struct Inputs {
  Tensor q, k, v;

  Inputs(std::int64_t queries, std::int64_t keys, std::int64_t channels, DType dtype)
      : q(random_tensor("q", {2, 4, queries, channels}).to(dtype)),
        k(random_tensor("k", {2, 2, keys, channels}).to(dtype)),
        v(random_tensor("v", {2, 2, keys, channels}).to(dtype)) {}
};

/// What is said to run, and did, with the CPU's result.
void expect_route(Route route, const Inputs& in, const spec::Score& score,
                  const spec::Mask& keep) {
  SCOPED_TRACE(name_of(route));
  const Tensor want = attend(in.q, in.k, in.v, score, keep).output;
  const Attended got =
      attend(in.q.to(Device::gpu), in.k.to(Device::gpu), in.v.to(Device::gpu), score, keep);
  EXPECT_EQ(got.route, route);
  if (route != Route::gpu_matrix) {
    EXPECT_EQ(last_route(), route);
  }
  const auto keys = static_cast<int>(in.k.size(2));
  expect_close(got.output.to(Device::cpu), want, gpu_tolerance(in.q.dtype(), keys),
               std::string(name_of(route)));
}

TEST(GpuRoute, FewQueriesWithoutATapeDecode) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const std::int64_t queries : {1, 4, 16}) {
      const Inputs in(queries, 300, 64, dtype);
      expect_route(Route::gpu_decode, in, spec::scaled_dot(), {});
      expect_route(Route::gpu_decode, in, spec::scaled_dot(), spec::causal());
    }
    const Inputs in(2, 300, 64, dtype);
    expect_route(Route::gpu_decode, in,
                 spec::scaled_dot() | spec::soft_cap(2.0) | spec::alibi(), spec::window(20, 3));
  }
}

TEST(GpuRoute, FewQueriesDecodeAndShowTheirWeights) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const std::int64_t queries : {1, 4}) {
      const Inputs in(queries, 37, 64, dtype);
      const spec::Mask keep =
          spec::lengths(Tensor::from(std::vector<std::int64_t>{37, 0}, {2}));
      const auto run = [&](Device device) {
        return attend(in.q.to(device), in.k.to(device), in.v.to(device), spec::scaled_dot(),
                      keep, spec::softmax(), Want::output | Want::weights);
      };
      const Attended want = run(Device::cpu);
      const Attended got = run(Device::gpu);
      EXPECT_EQ(got.route, Route::gpu_decode);
      EXPECT_FALSE(got.log_sum_exp.defined());
      expect_close(got.output.to(Device::cpu), want.output, gpu_tolerance(dtype, 37), "output");
      expect_close(got.weights.to(Device::cpu), want.weights, gpu_tolerance(dtype, 37),
                   named("weights", dtype));
    }
}

TEST(GpuRoute, ManyQueriesTakeWhatTheirTypeAndRecipeHave) {
  SKIP_WITHOUT_GPU();
  const bool hopper = gpu::capability().version == 90;
  const Inputs half(70, 90, 64, DType::bf16);
  expect_route(hopper ? Route::gpu_hopper : Route::gpu_tiles, half, spec::scaled_dot(),
               spec::causal());
  expect_route(Route::gpu_general, half, spec::scaled_dot() | spec::soft_cap(2.0),
               spec::window(9, 9));
  expect_route(Route::gpu_general, Inputs(70, 90, 64, DType::f32), spec::scaled_dot(), {});
  expect_route(Route::gpu_rows, half, spec::cosine(), {});
  EXPECT_NE(attend(half.q.to(Device::gpu), half.k.to(Device::gpu), half.v.to(Device::gpu),
                   spec::cosine())
                .note,
            nullptr);
}

TEST(GpuRoute, ForcedOnesAgree) {
  SKIP_WITHOUT_GPU();
  const Inputs in(70, 90, 64, DType::bf16);
  for (const Route route : {Route::gpu_tiles, Route::gpu_general, Route::gpu_rows}) {
    const ForceRoute forced(route);
    expect_route(route, in, spec::scaled_dot(), spec::causal());
  }
  const ForceRoute forced(Route::gpu_hopper);
  EXPECT_THROW(
      expect_route(Route::gpu_hopper, Inputs(70, 90, 64, DType::f32), spec::scaled_dot(), {}),
      Unsupported);
}

TEST(GpuRoute, ACacheDecodesAsOnTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Inputs in(7, 7, 64, dtype);
    const Tensor keys = Tensor::zeros({2, 2, 9, 64}, dtype, Device::gpu);
    const Tensor values = Tensor::zeros({2, 2, 9, 64}, dtype, Device::gpu);
    const auto step = [&](std::int64_t begin, std::int64_t end,
                          const std::vector<std::int64_t>& lengths) {
      return attend(in.q.slice(2, begin, end).to(Device::gpu), keys, values, spec::scaled_dot(),
                    {}, spec::softmax(), Want::output, Sequences::cached(lengths));
    };
    const Tensor want = attend(in.q, in.k, in.v, spec::scaled_dot(), spec::causal()).output;
    for (std::int64_t begin = 0, end = 3; begin < 7; begin = end++) {
      write_cache(keys, in.k.slice(2, begin, end).to(Device::gpu), {begin, begin});
      write_cache(values, in.v.slice(2, begin, end).to(Device::gpu), {begin, begin});
      const Attended got = step(begin, end, {end, end});
      EXPECT_EQ(got.route, Route::gpu_decode);
      expect_close(got.output.to(Device::cpu), want.slice(2, begin, end),
                   gpu_tolerance(dtype, 7), named("a step from a cache", dtype));
    }
    // Sequences that differ in length.
    const Tensor apart = attend(in.q.slice(2, 5, 7), in.k, in.v, spec::scaled_dot(), {},
                                spec::softmax(), Want::output, Sequences::cached({7, 4}))
                             .output;
    expect_close(step(5, 7, {7, 4}).output.to(Device::cpu), apart, gpu_tolerance(dtype, 7),
                 named("lengths", dtype));
  }
}

TEST(GpuRoute, PagesDecodeAsOnTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Tensor q = random_tensor("q", {2, 4, 2, 64}).to(dtype);
    const Tensor k = random_tensor("k", {6, 2, 16, 64}).to(dtype);
    const Tensor v = random_tensor("v", {6, 2, 16, 64}).to(dtype);
    const auto run = [&](Device device) {
      return attend(q.to(device), k.to(device), v.to(device), spec::scaled_dot(), {},
                    spec::softmax(), Want::output | Want::log_sum_exp,
                    Sequences::paged({4, 0, 3, 1, 5, 5}, 3, {37, 16}, device));
    };
    const Attended want = run(Device::cpu);
    const Attended got = run(Device::gpu);
    EXPECT_EQ(got.route, Route::gpu_decode);
    expect_close(got.output.to(Device::cpu), want.output, gpu_tolerance(dtype, 37), "pages");
    expect_close(got.log_sum_exp.to(Device::cpu), want.log_sum_exp, gpu_tolerance(dtype, 37),
                 "log-sum-exp of pages");
  }
}

TEST(GpuRoute, PackedSequencesHaveTheCpusGradients) {
  SKIP_WITHOUT_GPU();
  const Inputs in(9, 9, 16, DType::f32);
  const Tensors first{in.q.slice(0, 0, 1), in.k.slice(0, 0, 1), in.v.slice(0, 0, 1)};
  expect_same_on_gpu(
      "packed sequences", first,
      [](const Tensors& x) {
        const Attended got =
            attend(x[0], x[1], x[2], spec::scaled_dot(), spec::causal(1), spec::softmax(),
                   Want::output, Sequences::packed({0, 3, 3, 9}, {0, 5, 5, 9}, x[0].device()));
        return Tensors{got.output};
      },
      gpu_tolerance(DType::f32, 9));
}

}  // namespace
}  // namespace attn::test
