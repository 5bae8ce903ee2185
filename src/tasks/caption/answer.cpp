#include "attn/tasks/answer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/models/captioner.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "tasks/caption/pixels.hpp"

namespace attn::tasks {
namespace {

/// Canvases looked at in one go; more only take memory.
constexpr std::size_t kCanvasesAtOnce = 64;

std::size_t grid_of(std::size_t places) {
  return static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(places))));
}

Answer answer_of(models::Described described) {
  return {.text = caption_text(described.words),
          .score = described.log_probability,
          .log_probability = described.log_probability,
          .finished = described.finished,
          .source = {},
          .target = std::move(described.words),
          .weights = std::move(described.weights),
          .numbers = {{"gates", std::move(described.gates)}}};
}

}  // namespace

std::vector<Answer> caption(const CaptionModel& model,
                            std::span<const std::vector<std::uint8_t>> canvases) {
  std::vector<Answer> answers;
  for (std::size_t begin = 0; begin < canvases.size(); begin += kCanvasesAtOnce) {
    const std::size_t count = std::min(kCanvasesAtOnce, canvases.size() - begin);
    for (models::Described& described :
         model.model->describe(canvas_tensor(canvases.subspan(begin, count)), kLongestCaption))
      answers.push_back(answer_of(std::move(described)));
  }
  return answers;
}

std::span<const float> caption_weights(const Answer& answer, std::size_t step) {
  const std::size_t places = answer.weights.size() / (answer.target.size() + 1);
  return std::span(answer.weights).subspan(step * places, places);
}

maps::Map caption_map(const Answer& answer, const std::vector<std::uint8_t>& canvas,
                      models::Looking looking) {
  maps::Image image;
  image.title = answer.text;
  image.caption = looking == models::Looking::soft
                      ? "How much of each place was taken in for the word (soft attention)."
                      : "The one place that was looked at for the word (hard attention).";
  image.width = image.height = static_cast<std::size_t>(kCanvasSide);
  image.channels = 1;
  image.pixels = canvas;
  for (std::size_t i = 0; i < answer.target.size(); ++i) {
    const std::span<const float> weights = caption_weights(answer, i);
    const std::size_t grid = grid_of(weights.size());
    image.steps.push_back({caption_text({answer.target[i]}),
                           maps::Matrix{grid, grid, {weights.begin(), weights.end()}},
                           {}});
  }
  return image;
}

}  // namespace attn::tasks
