// The catalogue: every functor has its kind and its kernels, others have none.

#include "attn/kernels/catalogue.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "attn/core/concepts.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/stage.hpp"
#include "attn/mask/combine.hpp"
#include "attn/score/chain.hpp"

namespace attn {
namespace {

/// A functor that the library does not have.
struct Twice {
  template <class V>
  ATTN_FN V forward(V s, Site<V>) const {
    return s + s;
  }
};

template <class Any>
void expect_kernels(const Any& any, int kind) {
  EXPECT_EQ(any.kind, kind);
  for (const Target target : cpu::kBuiltTargets)
    EXPECT_NE(any.ops[static_cast<std::size_t>(target)], nullptr);
}

/// The bytes of a functor stand for one: masks such as Causal have no default.
template <class F>
const F& blank() {
  alignas(F) static const std::byte kZeros[sizeof(F)]{};
  return *reinterpret_cast<const F*>(kZeros);
}

TEST(Catalogue, EveryFunctorHasItsKindAndKernelsOfEveryTarget) {
  int kind = 0;
  [&]<class... Fs>(catalogue::List<Fs...>) {
    (expect_kernels(score_stage(blank<Fs>()), kind++), ...);
  }(catalogue::Scores{});
  kind = 0;
  [&]<class... Ms>(catalogue::List<Ms...>) {
    (expect_kernels(mask_stage(blank<Ms>()), kind++), ...);
  }(catalogue::Masks{});
  kind = 0;
  [&]<class... Ns>(catalogue::List<Ns...>) {
    (expect_kernels(normaliser_stage(blank<Ns>()), kind++), ...);
  }(catalogue::Normalisers{});
  kind = 0;
  [&]<class... Ws>(catalogue::List<Ws...>) {
    (..., [&](const AnyWeight& any) {
      EXPECT_EQ(any.kind, kind++);
      for (const Target target : cpu::kBuiltTargets)
        EXPECT_NE(any.stage.ops[static_cast<std::size_t>(target)], nullptr);
    }(weight_stage(blank<Ws>())));
  }(catalogue::Weights{});
}

TEST(Catalogue, AStageKnowsItsFunctor) {
  EXPECT_TRUE(catalogue::is<score::SoftCap>(score_stage(score::SoftCap{2.0f})));
  EXPECT_FALSE(catalogue::is<score::Scale>(score_stage(score::SoftCap{2.0f})));
  EXPECT_TRUE(catalogue::is<mask::Causal>(mask_stage(mask::Causal(3))));
  EXPECT_TRUE(catalogue::is<normalise::Softmax>(Recipe().normaliser));
  EXPECT_FALSE(catalogue::is<normalise::Softmax>(normaliser_stage(normalise::SoftmaxSink{})));
  EXPECT_TRUE(catalogue::is<normalise::Dropout>(weight_stage(normalise::Dropout{1, 0.5f})));
}

TEST(Catalogue, AFunctorOfYourOwnHasNoKind) {
  EXPECT_EQ(erase_score(Twice{}, {}).kind, -1);
  EXPECT_FALSE(catalogue::is<Twice>(erase_score(Twice{}, {})));
  // Neither has a combination that a template makes of the library's own.
  EXPECT_EQ(erase_mask(mask::both(mask::Causal(0), mask::None{})).kind, -1);
  EXPECT_EQ(erase_score(score::chain(score::SoftCap{2.0f}), {}).kind, -1);
}

TEST(Catalogue, AListIsCutByATest) {
  using Kept = decltype(catalogue::only<std::is_empty>(catalogue::Normalisers{}));
  EXPECT_GE((catalogue::kKind<normalise::Softmax, Kept>), 0);
  EXPECT_EQ((catalogue::kKind<normalise::HardSample, Kept>), -1);
}

}  // namespace
}  // namespace attn
