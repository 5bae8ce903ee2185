// Keys near a real centre are kept, and cover agrees with keep.

#include "attn/mask/around.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/mask_laws.hpp"

namespace attn {
namespace {

TEST(Around, KeepsWhatIsWithinReachOfTheCentre) {
  const std::vector<double> centres{0.0, 2.5, 3.999, 9.0};
  for (const double reach : {0.0, 0.4, 1.5, 4.0}) {
    const mask::Around<double> around{.centres = centres.data(), .reach = reach};
    for (int q = 0; q < 4; ++q)
      for (int k = 0; k < 10; ++k)
        EXPECT_EQ(around.keep(Site<double>{0, 0, q, k}),
                  std::fabs(k - centres[static_cast<std::size_t>(q)]) <= reach)
            << "reach " << reach << ", pair " << q << ", " << k;
    test::expect_cover_agrees(around, 4, 8);
  }
}

TEST(Around, ACentreThatIsNoNumberKeepsNothing) {
  const std::vector<float> centres{std::numeric_limits<float>::quiet_NaN(), 1e30f, -1e30f};
  const mask::Around<float> around{.centres = centres.data(), .reach = 2.0f};
  EXPECT_EQ(around.cover({0, 0, {0, 3}, {0, 100000}}), Cover::none);
}

}  // namespace
}  // namespace attn
