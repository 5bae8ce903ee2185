// Attention by whole rows on the GPU against the definition in double: random problems of every
// stage there is, in float, 16-bit types and double, and laws.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include "attn/kernels/erase.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/mask/lengths.hpp"
#include "gpu/run_gpu.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"

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
