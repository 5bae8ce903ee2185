// Functors of a user's own on the GPU: a score with a learnt number, which dual numbers
// differentiate, and a mask, given to the templates of forward.cuh and backward.cuh.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/concepts.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/gpu/functor/backward.cuh"
#include "attn/kernels/gpu/functor/forward.cuh"
#include "attn/kernels/reference/attention.hpp"
#include "attn/normalise/softmax.hpp"
#include "gpu/on_device.cuh"
#include "kernels/support/problem.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::test {
namespace {

/// s' = s - rate log(1 + |k - q|), rate being entry 0 of table 0.
struct Fade {
  static constexpr int kTables = 1;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    return s - p.value(0) * log(1.0f + abs(real<V>(at.k - at.q)));
  }
};
static_assert(ScoreFunctor<Fade>);

/// Keys of the past that are near, or of the query's own strand.
struct Braid {
  int near = 3;
  int strands = 8;

  template <class V>
  ATTN_FN auto keep(Site<V> at) const {
    const auto behind = at.q - at.k;
    return (behind >= 0) & ((behind <= near) | ((behind & (strands - 1)) == 0));
  }
  ATTN_FN Cover cover(const Block& block) const {
    return block.k.begin >= block.q.end ? Cover::none : Cover::some;
  }
};
static_assert(MaskFunctor<Braid>);

constexpr std::int64_t kHeads = 2, kQueries = 90, kKeys = 101, kDim = 64;

std::vector<double> draw(const std::string& seed, std::int64_t rows) {
  Random random(seed);
  std::vector<double> numbers(static_cast<std::size_t>(kHeads * rows * kDim));
  for (double& x : numbers) x = static_cast<double>(static_cast<float>(random.uniform(-1, 1)));
  return numbers;
}

template <class T>
View<T, 4> rows_view(T* data, std::int64_t rows) {
  return packed<T>(data, 1, kHeads, rows, kDim);
}

TEST(GpuFunctors, OfAUserAgreeWithTheDefinition) {
  if (!has_device()) GTEST_SKIP() << "this machine has no GPU";
  const auto q = draw("q", kQueries), k = draw("k", kKeys), v = draw("v", kKeys);
  const auto d_out = draw("d_out", kQueries);
  const std::vector<double> rate{0.7};
  constexpr float kScale = 0.4f;

  // The definition.
  std::vector<double> out(q.size()), dq(q.size()), dk(k.size()), dv(v.size());
  std::vector<double> stat(kHeads * kQueries), d_rate(1);
  Recipe recipe;
  recipe.scale = kScale;
  recipe.scores = {erase_score(Fade{}, {table(rate.data(), {1, 1, 1, 1})})};
  recipe.masks = {MaskTree::of(erase_mask(Braid{}))};
  recipe.normaliser = erase_normaliser(normalise::Softmax{}, {});
  const ForwardArgs<double> args{.q = rows_view(q.data(), kQueries),
                                 .k = rows_view(k.data(), kKeys),
                                 .v = rows_view(v.data(), kKeys),
                                 .out = rows_view(out.data(), kQueries),
                                 .stat = packed<double>(stat.data(), 1, kHeads, kQueries)};
  reference::forward(args, recipe);
  RecipeGrads grads;
  grads.scores = {{table_grad(d_rate.data(), {1, 1, 1, 1})}};
  reference::backward(BackwardArgs<double>{.q = args.q,
                                           .k = args.k,
                                           .v = args.v,
                                           .out = args.out,
                                           .stat = args.stat,
                                           .d_out = rows_view(d_out.data(), kQueries),
                                           .dq = rows_view(dq.data(), kQueries),
                                           .dk = rows_view(dk.data(), kKeys),
                                           .dv = rows_view(dv.data(), kKeys)},
                      recipe, grads);

  // The GPU, in float.
  const auto narrow = [](const std::vector<double>& x) {
    return std::vector<float>(x.begin(), x.end());
  };
  const OnDevice<float> q_gpu(narrow(q)), k_gpu(narrow(k)), v_gpu(narrow(v));
  const OnDevice<float> d_out_gpu(narrow(d_out)), rate_gpu(narrow(rate));
  const OnDevice<float> out_gpu(q.size()), stat_gpu(stat.size()), d_rate_gpu(narrow({0.0}));
  const OnDevice<float> dq_gpu(q.size()), dk_gpu(k.size()), dv_gpu(v.size());
  using Own = gpu::Stages<Fade, Braid, normalise::Softmax>;
  const Own stages{.scale = kScale,
                   .score_tables = {table<float>(rate_gpu.get(), {1, 1, 1, 1})}};
  const ForwardArgs<float> there{.q = rows_view<const float>(q_gpu.get(), kQueries),
                                 .k = rows_view<const float>(k_gpu.get(), kKeys),
                                 .v = rows_view<const float>(v_gpu.get(), kKeys),
                                 .out = rows_view(out_gpu.get(), kQueries),
                                 .stat = packed<float>(stat_gpu.get(), 1, kHeads, kQueries)};
  gpu::launch_forward<kDim>(there, stages, nullptr);
  const BackwardArgs<float> back{.q = there.q,
                                 .k = there.k,
                                 .v = there.v,
                                 .out = there.out,
                                 .stat = there.stat,
                                 .d_out = rows_view<const float>(d_out_gpu.get(), kQueries),
                                 .dq = rows_view(dq_gpu.get(), kQueries),
                                 .dk = rows_view(dk_gpu.get(), kKeys),
                                 .dv = rows_view(dv_gpu.get(), kKeys)};
  gpu::StagesGrads<Own> wanted;
  wanted.score.data[0] =
      gpu::DeviceTableGrad(table_grad<float>(d_rate_gpu.get(), {1, 1, 1, 1}));
  const OnDevice<unsigned char> workspace(gpu::backward_workspace_bytes(back));
  gpu::launch_backward<kDim>(back, stages, wanted, workspace.get(), nullptr);
  ATTN_CUDA_CALL(cudaDeviceSynchronize());

  const auto expect = [](const char* name, const OnDevice<float>& got,
                         const std::vector<double>& want, double within) {
    const std::vector<float> numbers = got.read();
    EXPECT_EQ(
        difference(name, std::vector<double>(numbers.begin(), numbers.end()), want, within),
        "");
  };
  const double within = 8 * gradient_tolerance(DType::f32, kKeys, 1);
  expect("out", out_gpu, out, within);
  expect("stat", stat_gpu, stat, within);
  expect("dq", dq_gpu, dq, within);
  expect("dk", dk_gpu, dk, within);
  expect("dv", dv_gpu, dv, within);
  expect("d_rate", d_rate_gpu, d_rate,
         8 * gradient_tolerance(DType::f32, static_cast<int>(kQueries * kKeys), 1));
}

}  // namespace
}  // namespace attn::test
