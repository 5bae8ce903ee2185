#include "tools/serve/mechanism_picture.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>

#include "attn/nn/registry.hpp"

namespace attn::tools {
namespace {

TEST(MechanismPicture, EachHasAPictureOfItsOwnNumbers) {
  std::size_t with_weights = 0;
  for (const nn::Mechanism* one : nn::mechanisms()) {
    const nlohmann::json picture = serve::mechanism_picture(*one);
    ASSERT_TRUE(picture.is_object()) << one->name << " has no picture";
    const auto& rows = picture.at("numbers");
    ASSERT_FALSE(rows.empty()) << one->name;
    ASSERT_FALSE(rows.at(0).empty()) << one->name;
    const bool weights = picture.at("kind") == "weights";
    with_weights += weights ? 1 : 0;
    for (const auto& row : rows) {
      ASSERT_EQ(row.size(), rows.at(0).size()) << one->name;
      for (const auto& number : row) {
        ASSERT_TRUE(number.is_number()) << one->name << ": " << number;
        if (weights) {
          EXPECT_GE(number.get<double>(), 0.0) << one->name;
          EXPECT_LE(number.get<double>(), 1.00001) << one->name;
        }
      }
    }
    EXPECT_EQ(picture, serve::mechanism_picture(*one)) << one->name << ": drawn twice";
  }
  EXPECT_GT(with_weights, 30u);
}

}  // namespace
}  // namespace attn::tools
