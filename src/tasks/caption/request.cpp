#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/captioner.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/prepare.hpp"
#include "tasks/caption/options_json.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCaptionRequest = "training.json";
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

CaptionRequest default_caption_request(models::Looking looking) {
  CaptionRequest request;
  request.model.looking = looking;
  request.training = {.rate = 2e-3,
                      .warm_up = 500,
                      .clip = looking == models::Looking::soft ? 1.0 : 5.0,
                      .average = 0.998,
                      .evaluate_every = 500,
                      .evaluate_on = 500,
                      .patience = 0};
  return request;
}

void save_caption_request(const fs::path& folder, const CaptionRequest& request) {
  make_folder(folder);
  const std::string where = files::path_text(folder / kCaptionRequest);
  files::write_json(folder / kCaptionRequest,
                    {{"task", "caption"},
                     {"model", json_of(request.model)},
                     {"loss",
                      {{"doubly", request.loss.doubly},
                       {"reward", request.loss.reinforce.lambda_r},
                       {"entropy", request.loss.reinforce.lambda_e},
                       {"soft_probability", request.loss.soft_probability}}},
                     {"training", files::parse_json(to_json(request.training), where)},
                     {"canvases", request.canvases},
                     {"begin", request.begin.string()},
                     {"command", request.command}});
}

CaptionRequest load_caption_request(const fs::path& folder) {
  const std::string where = files::path_text(folder / kCaptionRequest);
  std::error_code ignored;
  if (!fs::exists(folder / kCaptionRequest, ignored))
    fail<FileError>(files::path_text(folder), " holds no training: no ", kCaptionRequest);
  const nlohmann::json json = files::read_json(folder / kCaptionRequest);
  const std::string& task = files::to_text(files::member(json, "task", where), where);
  if (task != "caption")
    fail<FileError>(files::path_text(folder), " is a training of ", files::printable(task),
                    ", not of caption");
  CaptionRequest request;
  request.model = captioner_options(files::member(json, "model", where), where);
  const nlohmann::json& loss = files::member(json, "loss", where);
  const auto real = [&](const char* key) {
    return files::to_double(files::member(loss, key, where), where);
  };
  request.loss.doubly = real("doubly");
  request.loss.reinforce.lambda_r = real("reward");
  request.loss.reinforce.lambda_e = real("entropy");
  request.loss.soft_probability = real("soft_probability");
  const nlohmann::json& training = files::member(json, "training", where);
  for (const TrainingFlag& flag : training_flags())
    set_training_option(request.training, flag.name,
                        files::member(training, flag.name, where).dump());
  request.canvases = bounded(json, "canvases", kMostCanvases, where);
  request.begin = files::to_text(files::member(json, "begin", where), where);
  request.command = files::to_text(files::member(json, "command", where), where);
  return request;
}

}  // namespace attn::tasks
