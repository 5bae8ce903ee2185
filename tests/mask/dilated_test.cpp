// Every step-th key on both sides of the query.

#include "attn/mask/dilated.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/mask_laws.hpp"

namespace attn {
namespace {

TEST(Dilated, KeepsEveryStepthKeyOnBothSides) {
  for (const int step : {1, 2, 3, 5}) {
    for (const int offset : {-7, 0, 4}) {
      for (const int reach : {-1, 0, 6}) {
        const mask::Dilated dilated{.step = step, .reach = reach, .offset = offset};
        for (int q = 0; q < 5; ++q)
          for (int k = 0; k < 12; ++k)
            EXPECT_EQ(dilated.keep(Site<double>{0, 0, q, k}),
                      (q + offset - k) % step == 0 &&
                          (reach < 0 || std::abs(q + offset - k) <= reach))
                << "step " << step << ", offset " << offset << ", pair " << q << ", " << k;
        test::expect_cover_agrees(dilated, 4, 7, test::Answers::safe);
      }
    }
  }
}

}  // namespace
}  // namespace attn
