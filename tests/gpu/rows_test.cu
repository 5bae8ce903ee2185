// Attention by whole rows on the GPU against the definition in double: random problems of every
// stage there is, in float, 16-bit types and double, and laws.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "attn/kernels/erase.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/gpu/rows.hpp"
#include "attn/kernels/reference/attention.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/lengths.hpp"
#include "gpu/on_device.cuh"
#include "gpu/run_gpu.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::test {
namespace {

#define SKIP_WITHOUT_GPU() \
  if (!gpu::available()) GTEST_SKIP() << "no GPU: " << gpu::describe()

int parts_of(const MaskSpec& node) {
  int parts = 1;
  for (const MaskSpec& child : node.children) parts += parts_of(child);
  return parts;
}

/// Similarities are not kept on the GPU, and masks have twelve parts at most.
void make_served(Spec& spec) {
  spec.keep = false;
  int parts = 0;
  for (const MaskSpec& mask : spec.masks) parts += parts_of(mask);
  if (parts > 12) spec.masks.clear();
}

std::string agrees(const Problem& problem) {
  return gpu_difference(problem, run_gpu_rows(problem, problem.spec.dtype),
                        run_reference(problem));
}

TEST(GpuRows, AgreeWithTheDefinitionOnRandomProblems) {
  SKIP_WITHOUT_GPU();
  check_property("gpu rows", 240, Size::mixed, agrees, make_served);
}

TEST(GpuRows, AgreeWithTheDefinitionInDouble) {
  SKIP_WITHOUT_GPU();
  check_property(
      "gpu rows in double", 160, Size::tiny,
      [](const Problem& problem) {
        return gpu_difference(problem, run_gpu_rows(problem, DType::f64),
                              run_reference(problem), DType::f64);
      },
      make_served);
}

TEST(GpuRows, TakeManyChannels) {
  SKIP_WITHOUT_GPU();
  for (const Similarity similarity :
       {Similarity::dot, Similarity::additive, Similarity::cosine}) {
    Spec spec;
    spec.seed = "many channels";
    spec.similarity = similarity;
    spec.batch = 2;
    spec.group = 3;
    spec.queries = 33;
    spec.keys = 47;
    spec.channels = 390;
    spec.value_channels = 515;
    check_spec(spec, agrees);
  }
}

/// What a mask hides may be anything, and is not looked at.
TEST(GpuRows, HiddenKeysMayBeNan) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    Spec spec;
    spec.seed = "hidden";
    spec.dtype = dtype == DType::f64 ? DType::f32 : dtype;
    spec.queries = 20;
    spec.keys = 30;
    spec.channels = 8;
    spec.value_channels = 8;
    Problem problem(spec);
    auto& lengths = problem.numbers.emplace_back(1, 21);
    problem.recipe.masks.push_back(MaskTree::of(mask_stage(mask::Lengths{lengths.data()})));
    const Results first = run_gpu_rows(problem, dtype);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::fill(problem.k.begin() + 21 * 8, problem.k.end(), nan);
    std::fill(problem.v.begin() + 21 * 8, problem.v.end(), nan);
    const Results second = run_gpu_rows(problem, dtype);
    EXPECT_EQ(first, second);
  }
}

TEST(GpuRows, PackedSequencesAgreeWithTheDefinition) {
  SKIP_WITHOUT_GPU();
  constexpr std::int64_t kHeads = 4, kKvHeads = 2, kDim = 6;
  const std::vector<std::int64_t> q_offsets{0, 3, 3, 10, 12}, k_offsets{0, 5, 7, 11, 11};
  const Packing packing{q_offsets.data(), k_offsets.data(), 4};
  Random random("packed");
  const auto draw = [&](std::int64_t heads, std::int64_t rows) {
    std::vector<double> numbers(static_cast<std::size_t>(heads * rows * kDim));
    for (double& x : numbers) x = random.uniform(-1, 1);
    return numbers;
  };
  const auto q = draw(kHeads, 12), k = draw(kKvHeads, 11), v = draw(kKvHeads, 11);
  const auto d_out = draw(kHeads, 12);
  Recipe recipe;
  recipe.masks.push_back(MaskTree::of(mask_stage(mask::Causal::top_left())));

  /// q, k, v, d_out come first; then out, stat, dq, dk, dv.
  const auto run = [&](const auto& place, const Packing& offsets, const auto& forward,
                       const auto& backward) {
    const ForwardArgs<double> args{
        .q = packed<const double>(place(q), 1, kHeads, 12, kDim),
        .k = packed<const double>(place(k), 1, kKvHeads, 11, kDim),
        .v = packed<const double>(place(v), 1, kKvHeads, 11, kDim),
        .out = packed<double>(place(q), 1, kHeads, 12, kDim),
        .stat = packed<double>(place(std::vector<double>(kHeads * 12)), 1, kHeads, 12),
        .packing = offsets};
    const BackwardArgs<double> back{
        .q = args.q,
        .k = args.k,
        .v = args.v,
        .out = args.out,
        .stat = args.stat,
        .d_out = packed<const double>(place(d_out), 1, kHeads, 12, kDim),
        .dq = packed<double>(place(q), 1, kHeads, 12, kDim),
        .dk = packed<double>(place(k), 1, kKvHeads, 11, kDim),
        .dv = packed<double>(place(v), 1, kKvHeads, 11, kDim),
        .packing = offsets};
    forward(args);
    backward(back);
  };
  std::deque<std::vector<double>> here;
  run([&](const std::vector<double>& x) { return here.emplace_back(x).data(); }, packing,
      [&](const auto& args) { reference::forward(args, recipe); },
      [&](const auto& args) { reference::backward(args, recipe, {}); });
  std::deque<OnDevice<double>> there;
  const OnDevice<std::int64_t> q_there(q_offsets), k_there(k_offsets);
  run([&](const std::vector<double>& x) { return there.emplace_back(x).get(); },
      {q_there.get(), k_there.get(), 4},
      [&](const auto& args) {
        const OnDevice<unsigned char> space(gpu::rows_workspace(args));
        gpu::rows_forward(args, recipe, {}, space.get());
        ATTN_CUDA_CALL(cudaDeviceSynchronize());
      },
      [&](const auto& args) {
        const OnDevice<unsigned char> space(gpu::rows_backward_workspace(args));
        gpu::rows_backward(args, recipe, {}, space.get());
        ATTN_CUDA_CALL(cudaDeviceSynchronize());
      });
  ASSERT_EQ(here.size(), there.size());
  for (std::size_t i = 0; i < here.size(); ++i)
    EXPECT_EQ(difference(std::to_string(i), there[i].read(), here[i],
                         8 * gradient_tolerance(DType::f64, 12, 2)),
              "");
}

TEST(GpuRows, EmptyRowsGiveZeroAndNoGradient) {
  SKIP_WITHOUT_GPU();
  for (int kind = 0; kind < kNormaliserKinds; ++kind) {
    Spec spec;
    spec.seed = "empty rows";
    spec.normaliser = static_cast<NormaliserKind>(kind);
    spec.queries = 9;
    spec.keys = 2;  // bottom-right causal: the first 7 queries see nothing
    spec.channels = spec.value_channels = 5;
    spec.masks = {MaskSpec{MaskTree::Kind::leaf, MaskKind::causal, {}}};
    const Results got = run_gpu_rows(Problem(spec), DType::f32);
    for (std::size_t i = 0; i < 7 * 5; ++i) {
      EXPECT_EQ(got.out[i], 0.0) << "normaliser " << kind;
      EXPECT_EQ(got.dq[i], 0.0) << "normaliser " << kind;
    }
    for (const auto* list : {&got.out, &got.dq, &got.dk, &got.dv})
      for (const double x : *list) EXPECT_TRUE(std::isfinite(x)) << "normaliser " << kind;
  }
}

}  // namespace
}  // namespace attn::test
