#include "tools/attn/regress_map.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "attn/maps/map.hpp"
#include "tools/attn/regression.hpp"

namespace attn::tools {

maps::Curve map_of(const Regression& result, const SeriesNames& names) {
  maps::Curve map;
  map.title = names.title + ": " + names.y + " by " + names.x;
  map.caption = fmt::format(
      "Kernel regression (Nadaraya-Watson). A prediction is the average of the known points, "
      "weighted by how near they are; the kernel's width was learnt to be {:.4g} in units of "
      "{}.",
      result.last_width, names.x);
  map.x_title = names.x;
  map.y_title = names.y;
  const std::size_t points = result.train.x.size();
  for (std::size_t i = 0; i < points; ++i)
    map.points.push_back({result.train.x[i], result.train.y[i]});
  map.lines.push_back({"kernel, learnt width", result.learnt_curve.x, result.learnt_curve.y});
  map.lines.push_back({"kernel, fixed width", result.fixed_curve.x, result.fixed_curve.y});

  std::vector<std::size_t> order(result.held_out.x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::vector<double>& x = result.held_out.x;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return x[a] != x[b] ? x[a] < x[b] : a < b; });
  map.weights = {order.size(), points, {}};
  map.weights.values.reserve(order.size() * points);
  for (const std::size_t query : order) {
    map.queries.push_back(result.held_out.x[query]);
    const auto row = result.weights.begin() + static_cast<std::ptrdiff_t>(query * points);
    map.weights.values.insert(map.weights.values.end(), row,
                              row + static_cast<std::ptrdiff_t>(points));
  }
  return map;
}

}  // namespace attn::tools
