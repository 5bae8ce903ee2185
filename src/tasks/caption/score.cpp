// Scores captions: exact ones, right words, and weight inside the digits' boxes.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"

namespace attn::tasks {
namespace {

/// How much of [begin, begin + size) the interval [from, from + length) covers, of 1.
double overlap(double begin, double size, double from, double length) {
  const double shared = std::min(begin + size, from + length) - std::max(begin, from);
  return std::max(0.0, shared) / size;
}

/// The weights of the k-th word that names a digit; none when fewer were named.
std::span<const float> weights_of_digit(const Answer& answer, std::size_t k) {
  for (std::size_t i = 0; i < answer.target.size(); ++i)
    if (digit_named(answer.target[i]) >= 0 && k-- == 0) return caption_weights(answer, i);
  return {};
}

double percent(double part, double whole) {
  return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

}  // namespace

double share_inside(std::span<const float> weights, const Box& box) {
  const std::int64_t grid = std::lround(std::sqrt(static_cast<double>(weights.size())));
  if (grid < 1 || weights.size() != static_cast<std::size_t>(grid * grid))
    fail("attn::tasks::share_inside: ", weights.size(), " weights are no square grid");
  const double cell = static_cast<double>(kCanvasSide) / static_cast<double>(grid);
  double inside = 0.0;
  for (std::int64_t i = 0; i < grid * grid; ++i) {
    const std::int64_t row = i / grid;
    const double across = overlap(static_cast<double>(i % grid) * cell, cell,
                                  static_cast<double>(box.x), static_cast<double>(box.width));
    const double down = overlap(static_cast<double>(row) * cell, cell,
                                static_cast<double>(box.y), static_cast<double>(box.height));
    inside += static_cast<double>(weights[static_cast<std::size_t>(i)]) * across * down;
  }
  return inside;
}

Scores score_captions(std::span<const Example> canvases, std::span<const Answer> answers) {
  if (canvases.size() != answers.size())
    fail("attn::tasks::score_captions: ", answers.size(), " answers for ", canvases.size(),
         " canvases");
  double exact = 0.0;
  double right = 0.0;
  double words = 0.0;
  double inside = 0.0;
  double digits = 0.0;
  for (std::size_t i = 0; i < canvases.size(); ++i) {
    const Example& canvas = canvases[i];
    const Answer& answer = answers[i];
    if (answer.text == canvas.targets.front()) exact += 1.0;
    const std::vector<std::int64_t> truth = caption_tokens(canvas.targets.front());
    const std::vector<std::int64_t>& said = answer.target;
    words += static_cast<double>(truth.size());
    for (std::size_t t = 0; t < std::min(truth.size(), said.size()); ++t)
      if (truth[t] == said[t]) right += 1.0;
    digits += static_cast<double>(canvas.boxes.size());
    for (std::size_t k = 0; k < canvas.boxes.size(); ++k)
      if (const auto weights = weights_of_digit(answer, k); !weights.empty())
        inside += share_inside(weights, canvas.boxes[k]);
  }
  return {{"exact", percent(exact, static_cast<double>(canvases.size()))},
          {"words", percent(right, words)},
          {"inside", percent(inside, digits)}};
}

}  // namespace attn::tasks
