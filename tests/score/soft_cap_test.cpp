// Soft cap: its closed form, bounds and gradient.

#include "attn/score/soft_cap.hpp"

#include <gtest/gtest.h>

#include "support/score_laws.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

TEST(SoftCap, StaysInsideTheCapAndLeavesSmallScoresAlone) {
  const score::SoftCap cap{30.0f};
  EXPECT_EQ(cap.forward(0.0, Site<double>{}), 0.0);
  EXPECT_NEAR(cap.forward(1e-3, Site<double>{}), 1e-3, test::kDoubleScore);
  for (const double s : {-5000.0, -31.0, 29.0, 5000.0})
    EXPECT_LE(std::fabs(cap.forward(s, Site<double>{})), 30.0) << "s = " << s;
}

TEST(SoftCap, BackwardMatchesDifferences) {
  test::expect_backward_matches_differences(score::SoftCap{2.0f}, {}, -5.0, 5.0);
}

}  // namespace
}  // namespace attn
