// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/models/captioner.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/caption/digits.hpp"
#include "attn/tasks/scores.hpp"
#include "tools/attn/caption_training.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/progress.hpp"

namespace attn::tools {
namespace {

/// Answered between two lines of progress, at most.
constexpr std::size_t kCanvasesOfATurn = 256;
constexpr const char* kData = "MNIST digits";

std::vector<tasks::Canvas> canvases_of(const EvalCaption& asked,
                                       const tasks::DigitParts& parts) {
  if (asked.part == "train")
    fail("attn eval caption: canvases to train on are composed as they are needed; test and ",
         "development are fixed sets");
  const std::int64_t count = asked.limit > 0 ? asked.limit : tasks::kTestCanvases;
  return asked.part == "test" ? tasks::test_canvases(parts.test, count)
                              : tasks::development_canvases(parts.development, count);
}

std::vector<tasks::Answer> answers_to(const tasks::CaptionModel& model,
                                      const std::vector<tasks::Canvas>& canvases,
                                      const Streams& streams) {
  std::vector<std::vector<std::uint8_t>> pixels;
  pixels.reserve(canvases.size());
  for (const tasks::Canvas& canvas : canvases) pixels.push_back(canvas.pixels);
  std::vector<tasks::Answer> answers;
  auto told = std::chrono::steady_clock::now();
  while (answers.size() < pixels.size()) {
    const std::size_t count = std::min(kCanvasesOfATurn, pixels.size() - answers.size());
    for (auto& answer : tasks::caption(model, std::span(pixels).subspan(answers.size(), count)))
      answers.push_back(std::move(answer));
    const auto now = std::chrono::steady_clock::now();
    if (now - told < std::chrono::seconds(5)) continue;
    told = now;
    fmt::print(streams.err, "attn: {} of {} answered\n", answers.size(), pixels.size());
  }
  return answers;
}

void write_caption_answers(const std::string& path, const std::vector<tasks::Canvas>& canvases,
                           const std::vector<tasks::Answer>& answers) {
  std::string text;
  for (std::size_t i = 0; i < canvases.size(); ++i)
    text +=
        nlohmann::json{
            {"canvas", i}, {"answer", answers[i].text}, {"references", {canvases[i].caption}}}
            .dump() +
        "\n";
  files::atomic_write(std::filesystem::path(path), text);
}

}  // namespace

int eval_caption(const EvalCaption& asked, const Streams& streams) {
  const tasks::CaptionModel model =
      tasks::load_caption_model(model_folder(asked.model, "caption-soft"));
  const tasks::DigitParts parts = tasks::load_digits(progress(streams));
  const std::vector<tasks::Canvas> canvases = canvases_of(asked, parts);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<tasks::Answer> answers = answers_to(model, canvases, streams);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const tasks::Scores scores = tasks::score_captions(canvases, answers);
  const double rate = static_cast<double>(canvases.size()) / seconds;
  const char* looking = models::name_of(model.model->options().looking);
  if (asked.json) {
    fmt::print(streams.out, "{}\n",
               nlohmann::json{{"task", "caption"},
                              {"data", {{"name", kData}}},
                              {"part", asked.part},
                              {"attention", looking},
                              {"examples", canvases.size()},
                              {"scores", tasks::json_of(scores)},
                              {"seconds", seconds},
                              {"examples_per_second", rate},
                              {"parameters", model.model->parameter_count()}}
                   .dump(2));
  } else {
    fmt::print(streams.out,
               "caption ({} attention) on {} {} canvases of {}: {}; {:.1f} examples/s\n",
               looking, canvases.size(), asked.part, kData, tasks::text_of(scores), rate);
  }
  if (!asked.answers.empty()) write_caption_answers(asked.answers, canvases, answers);
  return success;
}

}  // namespace attn::tools
