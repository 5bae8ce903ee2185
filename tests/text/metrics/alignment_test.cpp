#include "text/metrics/alignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/random.hpp"

namespace attn::text {
namespace {

/// The table, cell by cell: the last number of the last row.
template <class Cell>
std::int64_t table(std::u32string_view a, std::u32string_view b, std::int64_t edge,
                   const Cell& cell) {
  std::vector<std::int64_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = edge * static_cast<std::int64_t>(j);
  for (const char32_t symbol : a) {
    std::int64_t diagonal = row[0];
    row[0] += edge;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::int64_t above = row[j];
      row[j] = cell(symbol == b[j - 1], diagonal, above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

std::int64_t slow_subsequence(std::u32string_view a, std::u32string_view b) {
  return table(a, b, 0, [](bool equal, auto diagonal, auto above, auto left) {
    return equal ? diagonal + 1 : std::max(above, left);
  });
}

std::int64_t slow_distance(std::u32string_view a, std::u32string_view b) {
  return table(a, b, 1, [](bool equal, auto diagonal, auto above, auto left) {
    return std::min({diagonal + (equal ? 0 : 1), above + 1, left + 1});
  });
}

TEST(Alignment, EqualsTheTableForEveryLengthAroundAWord) {
  test::Random random("alignment");
  for (const int alphabet : {1, 2, 5, 300}) {
    const auto text = [&](int length) {
      std::u32string out;
      for (int i = 0; i < length; ++i) out += static_cast<char32_t>(random.whole(1, alphabet));
      return out;
    };
    for (const int a : {0, 1, 2, 7, 63, 64, 65, 130})
      for (const int b : {0, 1, 5, 62, 63, 64, 65, 127, 128, 129, 200}) {
        const std::u32string left = text(a);
        const std::u32string right = text(b);
        ASSERT_EQ(common_subsequence(left, right), slow_subsequence(left, right))
            << a << ' ' << b;
        ASSERT_EQ(edit_distance(left, right), slow_distance(left, right)) << a << ' ' << b;
      }
  }
}

TEST(Alignment, LongTextsTakeNoTime) {
  test::Random random("long");
  std::u32string a;
  std::u32string b;
  for (int i = 0; i < 50000; ++i) {
    a += static_cast<char32_t>(random.whole(1, 2));
    b += static_cast<char32_t>(random.whole(1, 20000));
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(common_subsequence(a, a), 50000);
  EXPECT_EQ(edit_distance(b, b + U"x"), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace attn::text
