#include "attn/kernels/cpu/attention.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/cpu/decode/piece.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"

namespace attn {
namespace {

/// Forward and backward of every target agree with the definition.
std::string agrees_on_every_target(const test::Problem& problem) {
  const test::Results want = test::run_reference(problem);
  std::string wrong;
  for (const Target target : test::targets()) {
    const std::string off =
        test::difference(problem, test::run_cpu(problem, {.target = target}), want);
    if (!off.empty()) wrong += std::string(name_of(target)) + ": " + off;
  }
  return wrong;
}

TEST(Attention, EveryTargetAgreesWithTheReferenceOnDrawnProblems) {
  test::check_property("cpu = reference", 400, test::Size::mixed, agrees_on_every_target);
}

TEST(Attention, EverySimilarityAgreesWithTheReferenceOnEveryElementType) {
  for (int similarity = 0; similarity < 6; ++similarity) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      for (const auto width :
           {test::WidthKind::none, test::WidthKind::scalar, test::WidthKind::channel}) {
        test::Spec spec{.seed = "every similarity",
                        .batch = 2,
                        .kv_heads = 2,
                        .group = 2,
                        .queries = 29,
                        .keys = 41,
                        .channels = 19,
                        .value_channels = 13,
                        .dtype = dtype,
                        .similarity = static_cast<Similarity>(similarity),
                        .width = width,
                        .weights_per_head = true};
        if (spec.similarity != Similarity::distance && width != test::WidthKind::none) continue;
        if (spec.similarity == Similarity::sum) spec.channels = 1;
        if (spec.similarity == Similarity::given) {
          spec.channels = 0;
          spec.scores.push_back({test::ScoreKind::bias, test::Sharing::per_head});
        }
        test::check_spec(spec, agrees_on_every_target);
        spec.queries = 3;  // few queries take the decoding path
        test::check_spec(spec, agrees_on_every_target);
      }
    }
  }
}

TEST(Attention, EveryScoreModifierAgreesWithTheReferenceInEverySharing) {
  for (int kind = 0; kind < test::kScoreKinds; ++kind) {
    for (int sharing = 0; sharing < test::kSharings; ++sharing) {
      test::Spec spec{.seed = "every modifier",
                      .batch = 2,
                      .kv_heads = 2,
                      .group = 2,
                      .queries = 17,
                      .keys = 23,
                      .channels = 5,
                      .value_channels = 4,
                      .masks = {{.leaf = test::MaskKind::causal}}};
      spec.scores = {{test::ScoreKind::soft_cap, {}},
                     {static_cast<test::ScoreKind>(kind), static_cast<test::Sharing>(sharing)}};
      test::check_spec(spec, agrees_on_every_target);
    }
  }
}

TEST(Attention, EveryNormaliserAgreesWithTheReferenceUnderEveryWeightModifier) {
  for (int normaliser = 0; normaliser < test::kNormaliserKinds; ++normaliser) {
    for (int factor = -1; factor < test::kFactorKinds; ++factor) {
      for (const int queries : {5, 40}) {
        test::Spec spec{.seed = "every normaliser",
                        .kv_heads = 2,
                        .queries = queries,
                        .keys = queries == 40 ? test::kManyKeys : 35,
                        .channels = 6,
                        .value_channels = 9,
                        .masks = {{.leaf = test::MaskKind::query_lengths}},
                        .normaliser = static_cast<test::NormaliserKind>(normaliser)};
        if (factor >= 0)
          spec.factors = {{static_cast<test::FactorKind>(factor), test::Sharing::per_query}};
        for (const bool d_weights : {false, true}) {
          spec.d_weights = d_weights;
          spec.d_stat = spec.has_lse();
          test::check_spec(spec, agrees_on_every_target);
        }
      }
    }
  }
}

TEST(Attention, EveryMaskAgreesWithTheReferenceAcrossTheBordersOfTiles) {
  for (int kind = 0; kind < test::kMaskKinds; ++kind) {
    for (const auto join :
         {MaskTree::Kind::leaf, MaskTree::Kind::none_of, MaskTree::Kind::any_of}) {
      test::MaskSpec mask{
          .kind = join, .leaf = static_cast<test::MaskKind>(kind), .children = {}};
      if (join != MaskTree::Kind::leaf) mask.children = {{.leaf = mask.leaf}};
      if (join == MaskTree::Kind::any_of)
        mask.children.push_back({.leaf = test::MaskKind::block_sparse});
      const test::Spec spec{.seed = "every mask",
                            .queries = test::kManyQueries,
                            .keys = test::kManyKeys,
                            .channels = 3,
                            .value_channels = 2,
                            .masks = {mask}};
      test::check_spec(spec, agrees_on_every_target);
    }
  }
}

TEST(Attention, FewQueriesAgreeWithTheReferenceOverSeveralPiecesOfKeys) {
  for (int normaliser = 0; normaliser < test::kNormaliserKinds; ++normaliser) {
    const test::Spec spec{.seed = "pieces",
                          .group = 2,
                          .queries = 2,
                          .keys = 2 * cpu::kPieceKeys + 77,
                          .masks = {{.leaf = test::MaskKind::query_lengths}},
                          .normaliser = static_cast<test::NormaliserKind>(normaliser)};
    test::check_spec(spec, agrees_on_every_target);
  }
}

TEST(Attention, EveryLayoutGivesTheSameBits) {
  test::Spec spec{.seed = "every layout",
                  .batch = 2,
                  .kv_heads = 2,
                  .group = 2,
                  .queries = 27,
                  .keys = 33,
                  .channels = 21,
                  .value_channels = 18};
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    spec.dtype = dtype;
    const test::Problem packed(spec);
    const test::Results want = test::run_cpu(packed);
    for (int lay = 1; lay < test::kLays; ++lay) {
      test::Spec strided = spec;
      strided.q_lay = strided.kv_lay = strided.out_lay = static_cast<test::Lay>(lay);
      const test::Results got = test::run_cpu(test::Problem(strided));
      EXPECT_TRUE(got == want) << name_of(dtype) << ", layout " << lay;
    }
  }
}

TEST(Attention, LeavingTheStatisticOutChangesNothing) {
  test::check_property("no stat", 30, test::Size::mixed, [](const test::Problem& problem) {
    const bool same =
        test::run_cpu(problem, {}, false).out == test::run_cpu(problem, {}, true).out;
    return std::string(same ? "" : "the output differs without stat");
  });
}

}  // namespace
}  // namespace attn
