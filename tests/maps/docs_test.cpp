// docs/maps.md shows a map of every kind: what stands there can be read.

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "attn/files/read_file.hpp"
#include "attn/maps/map.hpp"

namespace attn::maps {
namespace {

TEST(MapDocs, EveryExampleIsAMapAndNoKindIsMissing) {
  const std::string page = files::read_text(ATTN_TEST_DATA "/../../docs/maps.md", 1 << 20);
  constexpr std::string_view kBegin = "```json\n";
  std::set<std::size_t> kinds;
  for (std::size_t at = page.find(kBegin); at != std::string::npos;
       at = page.find(kBegin, at + 1)) {
    const std::size_t begin = at + kBegin.size();
    const std::string example = page.substr(begin, page.find("```", begin) - begin);
    Map map;
    EXPECT_NO_THROW(map = parse_map(example)) << example;
    kinds.insert(map.index());
  }
  EXPECT_EQ(kinds.size(), 10u);
}

}  // namespace
}  // namespace attn::maps
