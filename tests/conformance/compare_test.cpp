#include "tools/conformance/compare.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/tolerance.hpp"

namespace attn::conformance {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Array floats(const std::vector<float>& values) {
  Array array = make_array(DType::f32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), array.data<float>());
  return array;
}

bool same(const std::vector<float>& got, const std::vector<float>& want) {
  return !compare("x", floats(got), floats(want), tolerance_of(DType::f32));
}

TEST(Compare, KeepsToOnnxTolerances) {
  EXPECT_TRUE(same({1.0009f, -2.0f}, {1.0f, -2.0f}));
  EXPECT_FALSE(same({1.0011f, -2.0f}, {1.0f, -2.0f}));
  EXPECT_TRUE(same({0.9e-7f}, {0.0f}));
  EXPECT_FALSE(same({1.1e-7f}, {0.0f}));
}

TEST(Compare, InfinitiesAndNansAreOnlyLikeThemselves) {
  EXPECT_TRUE(same({kInf, -kInf, kNan}, {kInf, -kInf, kNan}));
  EXPECT_FALSE(same({kInf}, {-kInf}));
  EXPECT_FALSE(same({1.0f}, {kInf}));
  EXPECT_FALSE(same({kNan}, {0.0f}));
  EXPECT_FALSE(same({0.0f}, {kNan}));
}

TEST(Compare, NamesTheWorstPlace) {
  const auto difference = compare("x", floats({1.0f, 2.5f, 3.1f}), floats({1.0f, 2.0f, 3.0f}),
                                  tolerance_of(DType::f32));
  ASSERT_TRUE(difference);
  EXPECT_NE(difference->text.find("differs by 0.5 at [1]"), std::string::npos)
      << difference->text;
}

TEST(Compare, TypesAndShapesMustAgree) {
  const Array one = make_array(DType::f32, {2, 3});
  EXPECT_TRUE(compare("x", one, make_array(DType::f32, {3, 2}), {}));
  EXPECT_TRUE(compare("x", one, make_array(DType::f16, {2, 3}), {}));
  EXPECT_FALSE(compare("x", one, make_array(DType::f32, {2, 3}), {}));
}

TEST(Compare, WholeNumbersMustBeEqual) {
  Array one = make_array(DType::i64, {1});
  Array other = one;
  *one.data<std::int64_t>() = (std::int64_t{1} << 60) + 1;
  *other.data<std::int64_t>() = std::int64_t{1} << 60;  // the same as a double
  EXPECT_TRUE(compare("x", one, other, tolerance_of(DType::i64)));
}

}  // namespace
}  // namespace attn::conformance
