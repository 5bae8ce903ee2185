#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

CaptionAnswer answer_of(const models::Described& said, std::int64_t grid) {
  CaptionAnswer answer{.text = caption_text(said.words),
                       .words = {},
                       .log_probability = said.log_probability,
                       .grid = grid,
                       .weights = {},
                       .gates = said.gates};
  for (const std::int64_t word : said.words) answer.words.push_back(caption_text({word}));
  const std::ptrdiff_t places = grid * grid;
  for (auto row = said.weights.begin(); row != said.weights.end(); row += places)
    answer.weights.emplace_back(row, row + places);
  return answer;
}

}  // namespace

std::vector<CaptionAnswer> caption(const CaptionModel& model,
                                   std::span<const std::vector<std::uint8_t>> canvases) {
  std::vector<CaptionAnswer> answers;
  for (std::size_t begin = 0; begin < canvases.size(); begin += kCanvasesAtOnce) {
    const std::size_t count = std::min(kCanvasesAtOnce, canvases.size() - begin);
    for (const models::Described& said :
         model.model->describe(canvas_tensor(canvases.subspan(begin, count)), kLongestCaption))
      answers.push_back(answer_of(said, model.model->grid()));
  }
  return answers;
}

maps::Map caption_map(const CaptionAnswer& answer, const std::vector<std::uint8_t>& canvas,
                      models::Looking looking) {
  maps::Image image;
  image.title = answer.text;
  image.caption = looking == models::Looking::soft
                      ? "How much of each place was taken in for the word (soft attention)."
                      : "The one place that was looked at for the word (hard attention).";
  image.width = image.height = static_cast<std::size_t>(kCanvasSide);
  image.channels = 1;
  image.pixels = canvas;
  const auto grid = static_cast<std::size_t>(answer.grid);
  for (std::size_t i = 0; i < answer.words.size(); ++i)
    image.steps.push_back(
        {answer.words[i], maps::Matrix{grid, grid, answer.weights.at(i)}, {}});
  return image;
}

}  // namespace attn::tasks
