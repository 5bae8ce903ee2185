// Any number of threads gives the same bits, forward and backward.

#include <gtest/gtest.h>

#include <string>

#include "attn/kernels/cpu/attention.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"

namespace attn {
namespace {

/// Forward and backward give the same bits for 1, 2, 3 and 7 threads, and when called again.
std::string same_bits(const test::Problem& p) {
  const test::Results one = test::run_cpu(p, {.threads = 1});
  for (const int threads : {2, 3, 7, 1})
    if (!(test::run_cpu(p, {.threads = threads}) == one))
      return "other bits for " + std::to_string(threads) + " threads; ";
  return "";
}

TEST(Determinism, AnyNumberOfThreadsGivesTheSameBitsOnDrawnProblems) {
  test::check_property("threads", 40, test::Size::mixed, same_bits);
}

TEST(Determinism, AnyNumberOfThreadsGivesTheSameBitsForASingleHead) {
  test::Spec spec{.seed = "one head",
                  .queries = 2 * test::kManyQueries,
                  .keys = test::kManyKeys,
                  .channels = 16,
                  .value_channels = 9};
  for (const Similarity similarity :
       {Similarity::dot, Similarity::distance, Similarity::cosine, Similarity::additive}) {
    spec.similarity = similarity;
    spec.width = test::WidthKind::channel;
    test::check_spec(spec, same_bits);
  }
  spec.similarity = Similarity::dot;
  spec.queries = 2;
  spec.keys = 9000;  // several pieces of the decoding path
  test::check_spec(spec, same_bits);
}

TEST(Determinism, AnyNumberOfThreadsGivesTheSameBitsForTablesOfEverySharing) {
  for (int sharing = 0; sharing < test::kSharings; ++sharing) {
    const auto shared = static_cast<test::Sharing>(sharing);
    test::Spec spec{.seed = "shared tables",
                    .batch = 2,
                    .kv_heads = 2,
                    .group = 2,
                    .queries = test::kManyQueries,
                    .keys = test::kManyKeys,
                    .channels = 4,
                    .value_channels = 3};
    spec.scores = {{test::ScoreKind::bias, shared}, {test::ScoreKind::relative, shared}};
    spec.factors = {{test::FactorKind::local_gaussian, shared}};
    spec.masks = {{.leaf = test::MaskKind::causal}};
    spec.normaliser = test::NormaliserKind::sink;
    spec.d_weights = sharing % 2 == 0;
    test::check_spec(spec, same_bits);
  }
}

}  // namespace
}  // namespace attn
