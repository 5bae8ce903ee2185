// The variance of q . k grows with d, and with it softmax loses its gradient.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/maps/map.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

constexpr std::int64_t kQueries = 512;
constexpr std::int64_t kKeys = 16;

struct Softened {
  double variance = 0.0;  ///< of the scores
  double largest = 0.0;   ///< weight of a query, on average
  double gradient = 0.0;  ///< length of d loss / d scores of a query, on average
};

Softened softened(const Tensor& products, double factor, const Tensor& values) {
  Tensor scores = (products * factor).detach().clone().set_requires_grad();
  const Attended looked = attend({}, {}, values, spec::given(scores), {}, spec::softmax(),
                                 Want::output | Want::weights);
  looked.output.backward(Tensor::full(looked.output.shape(), 1.0, DType::f64));
  const Tensor centred = scores.detach() - mean(scores.detach());
  return {mean(square(centred)).item(), mean(max(looked.weights.detach(), 2).values).item(),
          mean(sqrt(sum(square(scores.grad()), 2))).item()};
}

}  // namespace

LessonResult scale_lesson() {
  LessonTable table{fmt::format("{} queries and {} keys of independent numbers, mean 0 and "
                                "variance 1",
                                kQueries, kKeys),
                    {"d", "variance", "largest weight", "gradient", "variance / d",
                     "largest, scaled", "gradient, scaled"},
                    {}};
  Random random(20);
  const Tensor values = normal({1, kKeys, 1}, 0.0, 1.0, random, DType::f64);
  std::vector<double> x;
  maps::Series plain{"gradient of q · k", {}, {}};
  maps::Series scaled{"gradient of q · k / √d", {}, {}};
  maps::Series peak{"largest weight of q · k", {}, {}, maps::Axis::right};
  maps::Series scaled_peak{"largest weight of q · k / √d", {}, {}, maps::Axis::right};
  for (std::int64_t d = 1; d <= 1024; d *= 4) {
    const Tensor q = normal({1, kQueries, d}, 0.0, 1.0, random, DType::f64);
    const Tensor k = normal({1, kQueries, kKeys, d}, 0.0, 1.0, random, DType::f64);
    // Every query has keys of its own, so that all products are independent.
    const Tensor products = sum(q.unsqueeze(2) * k, 3);
    const Softened raw = softened(products, 1.0, values);
    const Softened even = softened(products, 1.0 / std::sqrt(static_cast<double>(d)), values);
    table.rows.push_back({std::to_string(d),
                          {raw.variance, raw.largest, raw.gradient, even.variance, even.largest,
                           even.gradient}});
    x.push_back(std::log2(static_cast<double>(d)));
    plain.y.push_back(raw.gradient);
    scaled.y.push_back(even.gradient);
    peak.y.push_back(raw.largest);
    scaled_peak.y.push_back(even.largest);
  }
  for (maps::Series* series : {&plain, &scaled, &peak, &scaled_peak}) series->x = x;

  LessonResult result;
  result.tables = {table};
  result.remarks = {
      "A sum of d products of variance 1 has variance d; divided by the square root of d it "
      "has "
      "variance 1, whatever d is.",
      "With large scores one weight is nearly 1. The gradient of softmax is w (g - sum w g), "
      "which is 0 where one weight is 1: nothing is learnt. Scaled, it stays as it is."};
  result.figure = maps::Training{
      .title = "Why scores are divided by √d",
      .caption =
          "Left axis: the mean length of the gradient that reaches the scores of a query. "
          "Right axis: its mean largest weight. Without the scale the weights become "
          "one-hot as d grows and the gradient fades; with it both stay.",
      .x_title = "log2 of d",
      .series = {plain, scaled, peak, scaled_peak},
      .left_title = "gradient of a query's scores",
      .right_title = "largest weight"};
  return result;
}

}  // namespace attn::tools
