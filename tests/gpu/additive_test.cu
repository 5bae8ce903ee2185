/// Additive attention on the GPU against the definition in double.

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "attn/kernels/erase.hpp"
#include "attn/kernels/gpu/functor/additive.cuh"
#include "attn/kernels/reference/attention.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/combine.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/mask/none.hpp"
#include "attn/normalise/softmax.hpp"
#include "attn/score/alibi.hpp"
#include "attn/score/bias.hpp"
#include "attn/score/scale.hpp"
#include "attn/score/soft_cap.hpp"
#include "gpu/on_device.cuh"
#include "kernels/support/strided.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace attn::gpu {
namespace {

using test::Lay;
using test::OnDevice;
using test::Random;
using test::Strided;
using test::ViewOnDevice;

using Plain = Stages<score::Chain<>, mask::None, normalise::Softmax>;

struct Sizes {
  int batch = 1;
  int kv_heads = 1;
  int group = 1;
  int queries = 4;
  int keys = 5;
  int channels = 8;
  int values = 8;
  double spread = 1.0;  ///< of queries and keys
  Lay lay = Lay::packed;

  int heads() const { return kv_heads * group; }
  std::string text() const {
    return "batch " + std::to_string(batch) + ", kv heads " + std::to_string(kv_heads) +
           ", group " + std::to_string(group) + ", queries " + std::to_string(queries) +
           ", keys " + std::to_string(keys) + ", channels " + std::to_string(channels) + " / " +
           std::to_string(values) + ", spread " + std::to_string(spread) + ", layout " +
           std::to_string(static_cast<int>(lay));
  }
};

std::size_t count(const test::Shape& shape) {
  return static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]);
}

/// Sums of twelve uniform numbers, as floats hold them: nearly Gaussian.
std::vector<double> gaussian(Random& random, const test::Shape& shape, double spread) {
  std::vector<double> result(count(shape));
  for (double& x : result) {
    double sum = 0.0;
    for (int i = 0; i < 12; ++i) sum += random.uniform(-0.5, 0.5);
    x = static_cast<double>(static_cast<float>(spread * sum));
  }
  return result;
}

template <class T>
View<T, 3> flat(const View<T, 4>& view) {
  return {view.data,
          {view.shape[0], view.shape[1], view.shape[2]},
          {view.strides[0], view.strides[1], view.strides[2]}};
}

template <class T>
View<T, 4> view_of(std::vector<std::remove_const_t<T>>& list, const test::Shape& shape) {
  return packed<T>(list.data(), shape[0], shape[1], shape[2], shape[3]);
}

/// The numbers of a problem, and what the definition makes of them.
struct Problem {
  Sizes size;
  test::Shape q_shape, k_shape, v_shape, out_shape, row_shape, w_shape, pair_shape;
  std::vector<double> q, k, v, w, d_out, d_stat;
  std::vector<double> out, stat, dq, dk, dv, dw, similarities;

  Problem(Random& random, const Sizes& sizes)
      : size(sizes),
        q_shape{size.batch, size.heads(), size.queries, size.channels},
        k_shape{size.batch, size.kv_heads, size.keys, size.channels},
        v_shape{size.batch, size.kv_heads, size.keys, size.values},
        out_shape{size.batch, size.heads(), size.queries, size.values},
        row_shape{size.batch, size.heads(), size.queries, 1},
        w_shape{1, size.kv_heads, 1, size.channels},
        pair_shape{size.batch, size.heads(), size.queries, size.keys},
        q(gaussian(random, q_shape, size.spread)),
        k(gaussian(random, k_shape, size.spread)),
        v(gaussian(random, v_shape, 1.0)),
        w(gaussian(random, w_shape, 2.0 / std::sqrt(size.channels + 1.0))),
        d_out(gaussian(random, out_shape, 1.0)),
        d_stat(gaussian(random, row_shape, 1.0)),
        out(count(out_shape)),
        stat(count(row_shape)),
        dq(count(q_shape)),
        dk(count(k_shape)),
        dv(count(v_shape)),
        dw(count(w_shape)),
        similarities(count(pair_shape)) {}

  void define(Recipe recipe) {
    recipe.similarity = Similarity::additive;
    recipe.weights = table<double>(w.data(), w_shape);
    const ForwardArgs<double> forward{
        .q = view_of<const double>(q, q_shape),
        .k = view_of<const double>(k, k_shape),
        .v = view_of<const double>(v, v_shape),
        .out = view_of<double>(out, out_shape),
        .stat = flat(view_of<double>(stat, row_shape)),
        .similarities = view_of<double>(similarities, pair_shape)};
    reference::forward(forward, recipe);
    const BackwardArgs<double> backward{
        .q = forward.q,
        .k = forward.k,
        .v = forward.v,
        .out = forward.out,
        .stat = forward.stat,
        .d_out = view_of<const double>(d_out, out_shape),
        .d_stat = flat(view_of<const double>(d_stat, row_shape)),
        .dq = view_of<double>(dq, q_shape),
        .dk = view_of<double>(dk, k_shape),
        .dv = view_of<double>(dv, v_shape)};
    RecipeGrads grads;
    grads.weights = table_grad<double>(dw.data(), w_shape);
    reference::backward(backward, recipe, grads);
  }
};

class AdditiveGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_device()) GTEST_SKIP() << "this machine has no GPU";
  }

  template <class St, class Edit>
  void compare(Random& random, const Sizes& size, const St& stages, const Recipe& recipe,
               const Edit& edit) {
    SCOPED_TRACE(size.text());
    Problem p(random, size);
    edit(p);
    p.define(recipe);

    const Lay lay = size.lay;
    Strided<float> q(p.q_shape, lay, p.q), k(p.k_shape, lay, p.k), v(p.v_shape, lay, p.v);
    Strided<float> d_out(p.out_shape, lay, p.d_out), d_stat(p.row_shape, lay, p.d_stat);
    Strided<float> out(p.out_shape, lay), stat(p.row_shape, lay);
    Strided<float> dq(p.q_shape, lay), dk(p.k_shape, lay), dv(p.v_shape, lay);
    Strided<float> similarities(p.pair_shape, Lay::padded);
    const ViewOnDevice<float> q_there(q.view()), k_there(k.view()), v_there(v.view());
    const ViewOnDevice<float> d_out_there(d_out.view()), d_stat_there(d_stat.view());
    const ViewOnDevice<float> out_there(out.view()), stat_there(stat.view());
    const ViewOnDevice<float> dq_there(dq.view()), dk_there(dk.view()), dv_there(dv.view());
    const ViewOnDevice<float> similarities_there(similarities.view());
    const OnDevice<float> w_there(std::vector<float>(p.w.begin(), p.w.end()));
    const OnDevice<float> dw_there(p.w.size());

    const Table weights = table(w_there.get(), p.w_shape);
    const ForwardArgs<float> forward{.q = q_there.view(),
                                     .k = k_there.view(),
                                     .v = v_there.view(),
                                     .out = out_there.view(),
                                     .stat = flat(stat_there.view()),
                                     .similarities = similarities_there.view()};
    const OnDevice<unsigned char> workspace(additive_workspace_bytes(forward));
    constexpr bool kIsRecipe = std::is_same_v<St, Recipe>;
    Recipe chosen;
    RecipeGrads grads;
    if constexpr (kIsRecipe) {
      chosen = stages;
      chosen.similarity = Similarity::additive;
      chosen.weights = weights;
      grads.weights = table_grad(dw_there.get(), p.w_shape);
      additive_forward(forward, chosen, workspace.get(), nullptr);
    } else {
      additive_forward(forward, weights, stages, workspace.get(), nullptr);
    }
    const BackwardArgs<float> backward{.q = forward.q,
                                       .k = forward.k,
                                       .v = forward.v,
                                       .out = forward.out,
                                       .stat = forward.stat,
                                       .d_out = d_out_there.view(),
                                       .d_stat = flat(d_stat_there.view()),
                                       .dq = dq_there.view(),
                                       .dk = dk_there.view(),
                                       .dv = dv_there.view()};
    if constexpr (kIsRecipe) {
      additive_backward(backward, chosen, grads, nullptr);
    } else {
      additive_backward(backward, weights, stages, table_grad(dw_there.get(), p.w_shape),
                        nullptr);
    }
    ATTN_CUDA_CALL(cudaDeviceSynchronize());
    for (const auto* list :
         {&out_there, &stat_there, &dq_there, &dk_there, &dv_there, &similarities_there})
      list->read();
    const std::vector<float> dw = dw_there.read();

    // The sums of channels and of pairs that reach a number, and three times as much for the
    // exponentials and quotients on the way: a unit in the last place of each channel.
    const auto within = [&](int length) {
      return 3.0 * test::tolerance(DType::f32, length + size.channels + 1);
    };
    expect_close("similarity", similarities.values(), p.similarities, within(0));
    expect_close("out", out.values(), p.out, within(0));
    expect_close("stat", stat.values(), p.stat, within(0));
    expect_close("dq", dq.values(), p.dq, within(size.keys));
    expect_close("dk", dk.values(), p.dk, within(size.queries * size.group));
    expect_close("dv", dv.values(), p.dv, within(size.queries * size.group));
    expect_close("dw", {dw.begin(), dw.end()}, p.dw,
                 within(size.batch * size.group * size.queries * size.keys));
    EXPECT_EQ(out.damage() + dq.damage() + dk.damage() + dv.damage(), "");
  }
  template <class St>
  void compare(Random& random, const Sizes& size, const St& stages, const Recipe& recipe) {
    compare(random, size, stages, recipe, [](Problem&) {});
  }

  static void expect_close(const char* what, const std::vector<double>& got,
                           const std::vector<double>& want, double within) {
    ASSERT_EQ(got.size(), want.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(want[i]) && std::isnan(got[i])) continue;
      const auto answer = test::close(got[i], want[i], within);
      if (!answer && ++wrong <= 2)
        ADD_FAILURE() << what << " at " << i << ": " << answer.message();
    }
    EXPECT_EQ(wrong, 0u) << what << ", of " << got.size();
  }
};

TEST_F(AdditiveGpu, AgreesWithTheDefinitionAtEverySize) {
  Random random("additive sizes");
  for (const int channels : {1, 3, 4, 17, 32, 64, 65, 100, 128, 192, 255, 256}) {
    for (const int keys : {0, 1, 31, 64, 77, 130}) {
      Sizes size{.batch = random.whole(1, 2),
                 .kv_heads = random.whole(1, 2),
                 .group = random.whole(1, 2),
                 .queries = random.whole(1, 70),
                 .keys = keys,
                 .channels = channels,
                 .values = random.whole(0, 2) == 0 ? random.whole(0, 256) : channels,
                 .lay = static_cast<Lay>(random.whole(0, 2 * test::kLays))};
      if (static_cast<int>(size.lay) >= test::kLays) size.lay = Lay::packed;
      compare(random, size, Plain{}, Recipe());
    }
  }
}

TEST_F(AdditiveGpu, TakesWideLayers) {
  Random random("additive wide");
  compare(random, {.queries = 33, .keys = 50, .channels = 512, .values = 512}, Plain{},
          Recipe());
  compare(random, {.queries = 20, .keys = 70, .channels = 700, .values = 300}, Plain{},
          Recipe());
  compare(random, {.queries = 5, .keys = 9, .channels = 300, .values = 700}, Plain{}, Recipe());
}

TEST_F(AdditiveGpu, HoldsAtAnySpread) {
  Random random("additive spreads");
  for (const double spread : {0.01, 0.5, 2.0, 3.5, 6.0, 12.0, 30.0, 100.0})
    compare(random,
            {.queries = 40, .keys = 100, .channels = 48, .values = 20, .spread = spread},
            Plain{}, Recipe());
}

TEST_F(AdditiveGpu, TakesLengthsAndACausalMask) {
  Random random("additive masks");
  for (const int keys : {1, 40, 150}) {
    const std::vector<int> lengths{keys, 0, (keys + 1) / 2};
    const OnDevice<int> lengths_there(lengths);
    for (const Lay lay : {Lay::packed, Lay::transposed}) {
      const Sizes size{.batch = 3,
                       .kv_heads = 1,
                       .group = 2,
                       .queries = 45,
                       .keys = keys,
                       .channels = 36,
                       .values = 28,
                       .lay = lay};
      Recipe recipe;
      recipe.masks = {MaskTree::of(erase_mask(mask::Lengths{lengths.data()}))};
      const Stages<score::Chain<>, mask::Lengths, normalise::Softmax> stages{
          .mask = {lengths_there.get()}};
      compare(random, size, stages, recipe);
      // What is masked may be anything.
      compare(random, size, stages, recipe, [&](Problem& p) {
        std::fill(p.k.begin() + keys * 36, p.k.begin() + 2 * keys * 36, std::nan(""));
        std::fill(p.v.begin() + keys * 28, p.v.begin() + 2 * keys * 28, std::nan(""));
        std::fill(p.k.begin() + (2 * keys + lengths[2]) * 36, p.k.end(), std::nan(""));
        std::fill(p.v.begin() + (2 * keys + lengths[2]) * 28, p.v.end(), std::nan(""));
      });
      const auto mask_of = [&](const int* list) {
        return mask::both(mask::Causal{keys - 45}, mask::Lengths{list});
      };
      const auto chain = score::chain(score::SoftCap{1.5f}, score::Alibi{keys - 45});
      const std::vector<float> slopes{0.1f, 0.02f};
      const OnDevice<float> slopes_there(slopes);
      Stages<std::decay_t<decltype(chain)>, std::decay_t<decltype(mask_of(nullptr))>,
             normalise::Softmax>
          more{.score = chain, .mask = mask_of(lengths_there.get())};
      more.score_tables = {table(slopes_there.get(), {1, 2, 1, 1})};
      Recipe with_more;
      with_more.masks = {MaskTree::of(erase_mask(mask_of(lengths.data())))};
      with_more.scores = {erase_score(chain, {table(slopes.data(), {1, 2, 1, 1})})};
      compare(random, size, more, with_more);
    }
  }
}

TEST_F(AdditiveGpu, TakesRecipesChosenAtRunTime) {
  Random random("additive recipes");
  const Sizes size{.batch = 2,
                   .kv_heads = 1,
                   .group = 2,
                   .queries = 37,
                   .keys = 90,
                   .channels = 40,
                   .values = 24};
  const std::vector<int> lengths{60, 90};
  const OnDevice<int> lengths_there(lengths);
  const auto bias = random.numbers<float>(90);
  const OnDevice<float> bias_there(bias);
  const auto make = [](int which, const int* list, const float* numbers) {
    const auto leaf = [](const auto& mask) { return MaskTree::of(erase_mask(mask)); };
    Recipe recipe;
    if (which == 1) recipe.masks = {leaf(mask::Lengths{list})};
    if (which == 2) recipe.masks = {leaf(mask::Causal{20})};
    if (which == 3) {
      recipe.masks = {
          {MaskTree::Kind::any_of, {}, {leaf(mask::Causal{-40}), leaf(mask::Lengths{list})}}};
      recipe.scores = {erase_score(score::Scale{2.0f}, {}),
                       erase_score(score::SoftCap{2.5f}, {}),
                       erase_score(score::Bias{}, {table(numbers, {1, 1, 1, 90})})};
    }
    return recipe;
  };
  for (int which = 0; which < 4; ++which) {
    SCOPED_TRACE("recipe " + std::to_string(which));
    compare(random, size, make(which, lengths_there.get(), bias_there.get()),
            make(which, lengths.data(), bias.data()));
  }
  // A score of -inf hides a key as a mask does.
  auto hiding = bias;
  hiding[7] = -std::numeric_limits<float>::infinity();
  const OnDevice<float> hiding_there(hiding);
  const auto biased = [](const float* numbers) {
    Recipe recipe;
    recipe.scores = {erase_score(score::Bias{}, {table(numbers, {1, 1, 1, 90})})};
    return recipe;
  };
  compare(random, size, biased(hiding_there.get()), biased(hiding.data()), [](Problem& p) {
    for (const int sequence : {0, 1})
      std::fill_n(p.v.begin() + (sequence * 90 + 7) * 24, 24, std::nan(""));
  });
}

TEST_F(AdditiveGpu, TakesInfiniteNumbers) {
  Random random("additive infinite");
  compare(random, {.queries = 34, .keys = 70, .channels = 20, .values = 8}, Plain{}, Recipe(),
          [](Problem& p) {
            p.q[3] = std::numeric_limits<double>::infinity();
            p.q[45] = -1e30;
            p.k[25] = -std::numeric_limits<double>::infinity();
            p.k[1001] = 1e20;
          });
}

TEST_F(AdditiveGpu, AgreesAtAFullSize) {
  Random random("additive full");
  compare(random, {.batch = 2, .queries = 128, .keys = 512, .channels = 256, .values = 256},
          Plain{}, Recipe());
}

TEST_F(AdditiveGpu, SaysWhatItIsNotBuiltFor) {
  ForwardArgs<float> args;
  args.q = packed<const float>(nullptr, 1, 1, 2, 1025);
  args.k = packed<const float>(nullptr, 1, 1, 3, 1025);
  args.v = packed<const float>(nullptr, 1, 1, 3, 4);
  args.out = packed<float>(nullptr, 1, 1, 2, 4);
  Plain stages;
  EXPECT_THROW(additive_forward(args, Table{}, stages, nullptr, nullptr), Unsupported);
  args.q.shape[3] = args.k.shape[3] = 4;
  EXPECT_THROW(additive_forward(args, Table{}, stages, nullptr, nullptr), InvalidArgument);
  args.v.shape[2] = 9;
  EXPECT_THROW(additive_forward(args, Table{}, stages, nullptr, nullptr), InvalidArgument);
}

}  // namespace
}  // namespace attn::gpu
