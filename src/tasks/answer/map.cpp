#include "tasks/answer/map.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/answer/questions.hpp"
#include "tasks/answer/regions.hpp"

namespace attn::tasks::vqa {
namespace {

/// Words of a question that are named for each level, the weightiest.
constexpr std::size_t kWordsNamed = 2;

/// "phrases: shape 61 %, what 20 %", or "first look".
std::string label_of(const std::string& level, const Question& question, const Answer& answer) {
  const auto at = answer.numbers.find(level + "_words");
  if (at == answer.numbers.end()) return (level == "question" ? "last" : level) + " look";
  std::vector<std::size_t> order;
  order.reserve(question.words.size());
  for (std::size_t i = 0; i < question.words.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return at->second[a] > at->second[b]; });
  std::string label = level + ":";
  for (std::size_t i = 0; i < std::min(order.size(), kWordsNamed); ++i) {
    const auto percent = std::lround(100.0f * at->second[order[i]]);
    if (i > 0 && percent == 0) break;
    label +=
        (i == 0 ? " " : ", ") + question.words[order[i]] + " " + std::to_string(percent) + " %";
  }
  return label;
}

maps::Matrix grid_of(std::int64_t grid, std::vector<float> weights) {
  for (float& weight : weights) weight = std::clamp(weight, 0.0f, 1.0f);
  const auto side = static_cast<std::size_t>(grid);
  return {side, side, std::move(weights)};
}

std::vector<maps::Box> boxes_of(const Picture& picture, const std::vector<float>& weights) {
  const std::vector<Box> boxes = regions_of(picture);
  std::vector<maps::Box> weighed;
  weighed.reserve(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i)
    weighed.push_back({static_cast<double>(boxes[i].x), static_cast<double>(boxes[i].y),
                       static_cast<double>(boxes[i].width),
                       static_cast<double>(boxes[i].height), std::clamp(weights[i], 0.0f, 1.0f),
                       ""});
  return weighed;
}

std::string caption_of(const Looking& looking) {
  const std::string again = looking.hops > 1 ? ", look after look." : ".";
  if (looking.attention == "boxes")
    return "How much the question looked at each region that stands out" + again;
  if (looking.attention == "grid") return "Where the question looked" + again;
  return "Where the words, the phrases and the whole question looked, with the words that "
         "counted most (" +
         looking.attention + " co-attention).";
}

}  // namespace

maps::Image map_of(const Looking& looking, const Picture& picture, const std::string& text,
                   const Question& question, const Answer& answer) {
  maps::Image image;
  image.title = text + " " + answer.text;
  image.caption = caption_of(looking);
  image.width = static_cast<std::size_t>(picture.width);
  image.height = static_cast<std::size_t>(picture.height);
  image.channels = 3;
  image.pixels = picture.pixels;
  for (const char* level : {"first", "second", "words", "phrases", "question"}) {
    const auto at = answer.numbers.find(std::string(level) + "_places");
    if (at == answer.numbers.end()) continue;
    maps::Step& step = image.steps.emplace_back();
    step.label = label_of(level, question, answer);
    if (looking.attention == "boxes")
      step.boxes = boxes_of(picture, at->second);
    else
      step.grid = grid_of(looking.grid, at->second);
  }
  return image;
}

}  // namespace attn::tasks::vqa
