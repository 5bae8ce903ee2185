// The choices of a caption training as JSON: defaults, reading, writing.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/captioner.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "tasks/caption/options_json.hpp"

namespace attn::tasks {
namespace {

constexpr std::int64_t kMostCaptionSize = 4096;
constexpr std::int64_t kMostCanvases = 1 << 16;

std::int64_t bounded(const nlohmann::json& json, const char* key, std::int64_t most,
                     const std::string& where) {
  const std::int64_t value = files::to_int(files::member(json, key, where), where);
  if (value < 1 || value > most)
    fail<FileError>(where, ": ", key, " is ", value, "; accepted: 1 to ", most);
  return value;
}

}  // namespace

nlohmann::json json_of(const models::CaptionerOptions& options) {
  return {{"attention", models::name_of(options.looking)},
          {"channels", options.channels},
          {"words", options.words},
          {"hidden", options.hidden},
          {"score", options.score}};
}

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
