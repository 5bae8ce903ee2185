// Saves and loads the folder of a captioning model.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/captioner.hpp"
#include "attn/nn/state.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "tasks/caption/options_json.hpp"
#include "tasks/check_finite.hpp"
#include "tasks/hugging_face.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCaptionFormat = 1;
constexpr const char* kCaptionConfig = "config.json";
constexpr const char* kCaptionWeights = "model.safetensors";

}  // namespace

CaptionModel make_caption_model(models::CaptionerOptions options) {
  options.vocabulary = static_cast<std::int64_t>(caption_words().size());
  options.side = kCanvasSide;
  return {std::make_shared<models::Captioner>(options), "{}"};
}

CaptionModel load_caption_model(const fs::path& folder) {
  const std::string where = files::path_text(folder / kCaptionConfig);
  std::error_code ignored;
  if (!fs::exists(folder / kCaptionConfig, ignored))
    fail<FileError>(files::path_text(folder), " is no model folder: it has no ", kCaptionConfig,
                    "; `attn train caption` makes one");
  const nlohmann::json config = files::read_json(folder / kCaptionConfig);
  refuse_hugging_face(config, folder);
  const std::string& task = files::to_text(files::member(config, "task", where), where);
  if (task != "caption")
    fail<FileError>(files::path_text(folder), " is a model for ", files::printable(task),
                    ", not for caption");
  const std::int64_t format = files::to_int(files::member(config, "format", where), where);
  if (format != kCaptionFormat)
    fail<FileError>(where, ": format is ", format, "; this program reads ", kCaptionFormat);
  if (files::member(config, "words", where) != nlohmann::json(caption_words()))
    fail<FileError>(where, ": its words are not those of this program's captions");
  CaptionModel model =
      make_caption_model(captioner_options(files::member(config, "model", where), where));
  model.history = config.contains("history") ? config["history"].dump() : "{}";
  nn::load_state(folder / kCaptionWeights, *model.model);
  check_finite(*model.model, folder / kCaptionWeights);
  model.model->eval();
  return model;
}

void save_caption_model(const fs::path& folder, const CaptionModel& model, DType dtype) {
  make_folder(folder);
  const std::string where = files::path_text(folder / kCaptionConfig);
  files::write_json(folder / kCaptionConfig,
                    {{"format", kCaptionFormat},
                     {"task", "caption"},
                     {"words", caption_words()},
                     {"model", json_of(model.model->options())},
                     {"history", files::parse_json(model.history, where)}});
  nn::save_state(folder / kCaptionWeights, *model.model, dtype);
}

}  // namespace attn::tasks
