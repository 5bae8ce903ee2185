// Kernel regression, the oldest attention: points look at points by their distance.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "attn/core/table.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/tasks/answer_json.hpp"
#include "tools/serve/live.hpp"
#include "tools/serve/live_sentence.hpp"

namespace attn::serve {
namespace {

/// Hours of a day and degrees measured then, with gaps and noise as measurements have them.
constexpr std::array<double, 24> kHours{0.4,  1.1,  2.3,  2.9,  4.2,  5.0,  5.6,  6.8,
                                        7.9,  8.4,  9.6,  10.3, 11.7, 12.2, 13.1, 14.4,
                                        15.0, 16.2, 17.5, 18.1, 19.6, 20.8, 21.7, 23.2};
constexpr std::array<double, 24> kDegrees{7.9,  6.8,  6.9,  5.4,  5.9,  4.6,  5.8,  7.3,
                                          8.2,  10.4, 11.1, 13.6, 14.2, 16.5, 16.1, 18.0,
                                          17.1, 17.6, 15.2, 15.6, 12.4, 11.3, 9.2,  8.8};
constexpr int kPlaces = 97;  ///< of the drawn line: every quarter of an hour

nlohmann::json draw(const Values& values) {
  const double width = values.at("width");
  const double query = values.at("query");
  // The recipe multiplies differences by w; a width in hours is what a reader can picture.
  const double factor = 1.0 / width;
  Recipe recipe;
  recipe.similarity = Similarity::distance;
  recipe.weights = table(&factor, {1, 1, 1, 1});

  std::vector<double> places;
  places.reserve(kPlaces);
  for (int i = 0; i < kPlaces; ++i) places.push_back(24.0 * i / (kPlaces - 1));
  const std::vector<double> keys(kHours.begin(), kHours.end());
  const std::vector<double> degrees(kDegrees.begin(), kDegrees.end());
  std::vector<double> line = pooled({places, keys, 1}, recipe, degrees);
  std::transform(line.begin(), line.end(), line.begin(), tasks::six_digits);

  auto points = nlohmann::json::array();
  for (std::size_t i = 0; i < kHours.size(); ++i) points.push_back({kHours[i], kDegrees[i]});
  return {{"attn_map", 1},
          {"kind", "curve"},
          {"title", "Kernel regression"},
          {"caption",
           fmt::format("Points are temperatures measured through a day. The line is their "
                       "average, near ones counting more, with a width of {:g} hours. Weights "
                       "are those of the query at {:g} h; they sum to 1.",
                       width, query)},
          {"x_title", "hour"},
          {"y_title", "degrees"},
          {"points", points},
          {"lines", {{{"name", "regression"}, {"x", places}, {"y", line}}}},
          {"queries", {query}},
          {"weights", tasks::rows_json(weights_of({{query}, keys, 1}, recipe), keys.size())}};
}

}  // namespace

std::vector<LiveExample> live_curves() {
  return {{"kernel_regression",
           "Kernel regression: near points count more",
           formula_of("nadaraya_watson"),
           "A query looks at known points by their distance. A narrow kernel follows every "
           "point, noise included; a wide one sees only the average. 1 / w is the width.",
           "curve",
           {{"width", "width of the kernel, hours", 0.2, 8.0, 0.1, 1.2},
            {"query", "query, hour", 0.0, 24.0, 0.25, 12.0}},
           draw}};
}

}  // namespace attn::serve
