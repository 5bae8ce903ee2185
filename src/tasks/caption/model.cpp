// A captioning model: its folder, its settings as JSON, and what it says of canvases.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/captioner.hpp"
#include "attn/nn/state.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/model_folder.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

/// Canvases looked at in one go; more only take memory.
constexpr std::size_t kCanvasesAtOnce = 64;
constexpr std::int64_t kMostCaptionSize = 4096;
constexpr std::int64_t kMostCanvases = 1 << 16;

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

std::int64_t bounded(const nlohmann::json& json, const char* key, std::int64_t most,
                     const std::string& where) {
  const std::int64_t value = files::to_int(files::member(json, key, where), where);
  if (value < 1 || value > most)
    fail<FileError>(where, ": ", key, " is ", value, "; accepted: 1 to ", most);
  return value;
}

/// Without vocabulary and side, which are the grammar's and the canvas's.
nlohmann::json json_of(const models::CaptionerOptions& options) {
  return {{"attention", models::name_of(options.looking)},
          {"channels", options.channels},
          {"words", options.words},
          {"hidden", options.hidden},
          {"score", options.score}};
}

/// FileError unless every size is there and in its bounds.
models::CaptionerOptions captioner_options(const nlohmann::json& json,
                                           const std::string& where) {
  models::CaptionerOptions options;
  const std::string& looking = files::to_text(files::member(json, "attention", where), where);
  if (looking != "soft" && looking != "hard")
    fail<FileError>(where, ": attention is ", files::in_quotes(looking),
                    "; soft and hard are accepted");
  options.looking = models::looking_named(looking);
  options.channels = bounded(json, "channels", kMostCaptionSize, where);
  if (options.channels % 3 != 0)
    fail<FileError>(where, ": channels is ", options.channels, ", no multiple of 3");
  options.words = bounded(json, "words", kMostCaptionSize, where);
  options.hidden = bounded(json, "hidden", kMostCaptionSize, where);
  options.score = bounded(json, "score", kMostCaptionSize, where);
  return options;
}

}  // namespace

CaptionModel make_caption_model(models::CaptionerOptions options) {
  options.vocabulary = static_cast<std::int64_t>(caption_words().size());
  options.side = kCanvasSide;
  return {std::make_shared<models::Captioner>(options), "{}"};
}

CaptionModel load_caption_model(const fs::path& folder) {
  const std::string where = files::path_text(folder / kConfig);
  const nlohmann::json config = read_config(folder, "attn train caption");
  const std::string& task = files::to_text(files::member(config, "task", where), where);
  if (task != "caption")
    fail<FileError>(files::path_text(folder), " is a model for ", files::printable(task),
                    ", not for caption");
  check_format(config, where);
  if (files::member(config, "words", where) != nlohmann::json(caption_words()))
    fail<FileError>(where, ": its words are not those of this program's captions");
  CaptionModel model =
      make_caption_model(captioner_options(files::member(config, "model", where), where));
  model.history = history_in(config);
  nn::load_state(folder / kWeights, *model.model);
  check_finite(*model.model, folder / kWeights);
  model.model->eval();
  return model;
}

void save_caption_model(const fs::path& folder, const CaptionModel& model, DType dtype) {
  make_folder(folder);
  const std::string where = files::path_text(folder / kConfig);
  files::write_json(folder / kConfig, {{"format", kFolderFormat},
                                       {"task", "caption"},
                                       {"words", caption_words()},
                                       {"model", json_of(model.model->options())},
                                       {"history", files::parse_json(model.history, where)}});
  nn::save_state(folder / kWeights, *model.model, dtype);
}

Tensor canvas_tensor(std::span<const std::vector<std::uint8_t>> canvases) {
  constexpr auto kPixels = static_cast<std::size_t>(kCanvasSide * kCanvasSide);
  std::vector<float> numbers;
  numbers.reserve(canvases.size() * kPixels);
  for (const auto& canvas : canvases) {
    if (canvas.size() != kPixels)
      fail("attn::tasks::caption: a canvas of ", canvas.size(), " bytes; ", kPixels,
           " are accepted");
    for (const std::uint8_t pixel : canvas)
      numbers.push_back(static_cast<float>(pixel) / 255.0f);
  }
  return Tensor::from(numbers,
                      {static_cast<std::int64_t>(canvases.size()), kCanvasSide, kCanvasSide});
}

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

nlohmann::json json_of(const CaptionSettings& settings) {
  return {{"model", json_of(settings.model)},
          {"loss",
           {{"doubly", settings.loss.doubly},
            {"reward", settings.loss.reinforce.lambda_r},
            {"entropy", settings.loss.reinforce.lambda_e},
            {"soft_probability", settings.loss.soft_probability}}},
          {"canvases", settings.canvases}};
}

CaptionSettings caption_settings(const nlohmann::json& what, const std::string& where) {
  CaptionSettings settings;
  settings.model = captioner_options(files::member(what, "model", where), where);
  const nlohmann::json& loss = files::member(what, "loss", where);
  const auto real = [&](const char* key) {
    return files::to_double(files::member(loss, key, where), where + ": loss." + key);
  };
  settings.loss.doubly = real("doubly");
  settings.loss.reinforce.lambda_r = real("reward");
  settings.loss.reinforce.lambda_e = real("entropy");
  settings.loss.soft_probability = real("soft_probability");
  settings.canvases = bounded(what, "canvases", kMostCanvases, where);
  return settings;
}

}  // namespace attn::tasks
