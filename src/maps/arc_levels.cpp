#include "attn/maps/arc_levels.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "attn/maps/map.hpp"

namespace attn::maps {

std::vector<std::size_t> arc_levels(const Arcs& map, std::size_t count) {
  const auto first = [&](std::size_t i) {
    return std::min(map.arcs[i].head, map.arcs[i].dependent);
  };
  const auto last = [&](std::size_t i) {
    return std::max(map.arcs[i].head, map.arcs[i].dependent);
  };
  std::vector<std::size_t> order(map.arcs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return last(a) - first(a) < last(b) - first(b);
  });
  std::vector<std::size_t> levels(map.arcs.size(), 0);
  // The highest level above the gap behind each word.
  std::vector<std::size_t> highest(std::min(count, map.words.size()) + 1, 0);
  for (const std::size_t i : order) {
    if (first(i) == 0 || last(i) > count) continue;
    const auto begin = highest.begin() + static_cast<std::ptrdiff_t>(first(i));
    const auto end = highest.begin() + static_cast<std::ptrdiff_t>(last(i));
    levels[i] = 1 + *std::max_element(begin, end);
    std::fill(begin, end, levels[i]);
  }
  return levels;
}

}  // namespace attn::maps
