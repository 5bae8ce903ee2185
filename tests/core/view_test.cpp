// Views address memory by any strides, zero and negative ones too.

#include "attn/core/view.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace attn {
namespace {

TEST(View, PackedIsRowMajor) {
  std::vector<int> data(2 * 3 * 4);
  std::iota(data.begin(), data.end(), 0);
  const View<int, 3> view = packed<int>(data.data(), 2, 3, 4);
  EXPECT_EQ(view.size(), 24);
  EXPECT_EQ(*view.at(1, 2, 3), 23);
  EXPECT_EQ(*view.at(1, 2), 20);
  EXPECT_EQ(*view.at(), 0);
}

TEST(View, StridesMayBeZeroOrNegative) {
  std::vector<int> data{1, 2, 3};
  const View<int, 2> shared{data.data(), {5, 3}, {0, 1}};
  EXPECT_EQ(*shared.at(4, 2), 3);
  const View<int, 1> turned{data.data() + 2, {3}, {-1}};
  EXPECT_EQ(*turned.at(0), 3);
  EXPECT_EQ(*turned.at(2), 1);
}

TEST(View, BecomesAViewOfConstants) {
  std::vector<float> data{1.0f};
  const View<const float, 1> view = packed<float>(data.data(), 1);
  EXPECT_EQ(*view.at(0), 1.0f);
}

TEST(View, AnEmptyOneHasNoElements) {
  EXPECT_EQ((packed<float>(nullptr, 3, 0, 2).size()), 0);
  EXPECT_EQ((packed_strides<2>({3, 0})), (std::array<std::int64_t, 2>{0, 1}));
}

}  // namespace
}  // namespace attn
