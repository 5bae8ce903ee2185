#include "attn/tasks/pair_model.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/state.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/calibration.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/model_folder.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "source.vocab";
constexpr const char* kTarget = "target.vocab";
/// No model of ours reads or writes more in one go.
constexpr std::int64_t kMostTokens = 1 << 16;

bool shares_vocabulary(const PairModel& model) {
  return model.source.checksum() == model.target.checksum();
}

files::Metadata checksums(const PairModel& model) {
  return {{"source_vocabulary", model.source.checksum()},
          {"target_vocabulary", model.target.checksum()}};
}

std::int64_t limit_of(const nlohmann::json& limits, const char* side,
                      const std::string& where) {
  const std::int64_t value = files::to_int(files::member(limits, side, where), where);
  if (value < 1 || value > kMostTokens)
    fail<FileError>(where, ": limits.", side, " is ", value, "; accepted: 1 to ", kMostTokens);
  return value;
}

void check_vocabulary(const text::Tokeniser& tokeniser, std::int64_t wanted,
                      const fs::path& path) {
  if (tokeniser.size() != wanted)
    fail<FileError>(files::path_text(path), " has ", tokeniser.size(),
                    " tokens and the model in ", kConfig, " beside it ", wanted,
                    "; they do not belong together");
}

void check_bound(const files::Metadata& found, const PairModel& model, const fs::path& folder) {
  for (const auto& [key, checksum] : checksums(model)) {
    const auto at = found.find(key);
    if (at == found.end() || at->second != checksum)
      fail<FileError>(files::path_text(folder / kWeights), " was trained with another ", key,
                      " than the one in its folder: checksum ",
                      at == found.end() ? "missing" : files::printable(at->second), ", found ",
                      checksum);
  }
}

/// Before memory is taken for a model of these sizes: each is in its range, and the weights may
/// be in the file. A layer of any kind has at least dim^2 of them, of a byte or more.
void check_sizes(const models::ModelOptions& options, const fs::path& folder) {
  try {
    models::validate(options);
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();  // "attn::models::validate: dim is ..."
    fail<FileError>(files::path_text(folder / kConfig), text.substr(text.find(": ")));
  }
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(folder / kWeights, error);
  if (error)
    fail<FileError>(files::path_text(folder / kWeights), " cannot be read: ", error.message());
  const auto least = static_cast<std::uintmax_t>(
      (options.encoder_layers + options.decoder_layers) * options.dim * options.dim);
  if (least > bytes)
    fail<FileError>(files::path_text(folder / kConfig), " asks for ", options.encoder_layers,
                    " and ", options.decoder_layers, " layers with dim ", options.dim,
                    ", at least ", least, " weights; ", kWeights, " beside it has only ", bytes,
                    " bytes");
}

}  // namespace

Vocabularies read_vocabularies(const fs::path& folder, bool shared) {
  text::Tokeniser source = text::Tokeniser::read(folder / kSource);
  text::Tokeniser target = shared ? source : text::Tokeniser::read(folder / kTarget);
  return {std::move(source), std::move(target)};
}

void write_vocabularies(const fs::path& folder, const PairModel& model) {
  make_folder(folder);
  model.source.write(folder / kSource);
  if (!shares_vocabulary(model)) model.target.write(folder / kTarget);
}

PairModel load_model(const fs::path& folder) {
  const std::string where = files::path_text(folder / kConfig);
  const nlohmann::json config = read_config(folder, "attn train");
  check_format(config, where);

  const nlohmann::json& limits = files::member(config, "limits", where);
  const bool shared = files::to_bool(files::member(config, "shared_vocabulary", where), where);
  Vocabularies vocabularies = read_vocabularies(folder, shared);
  PairModel model{
      .task = files::to_text(files::member(config, "task", where), where),
      .options = models::from_json(files::member(config, "model", where).dump(), where),
      .limits = {limit_of(limits, "source", where), limit_of(limits, "target", where)},
      .source = std::move(vocabularies.source),
      .target = std::move(vocabularies.target),
      .model = nullptr,
      .language = config.contains("language")
                      ? files::to_text(config.at("language"), where + ": language")
                      : "",
      .history = history_in(config)};
  // Before a model of these sizes is made.
  check_vocabulary(model.source, model.options.source_vocabulary, folder / kSource);
  check_vocabulary(model.target, model.options.target_vocabulary,
                   folder / (shared ? kSource : kTarget));
  check_sizes(model.options, folder);
  model.model = models::make_model(model.options);
  check_bound(nn::load_state(folder / kWeights, *model.model), model, folder);
  check_finite(*model.model, folder / kWeights);
  model.model->eval();
  if (auto calibration = load_calibration(folder, model))
    model.calibration = std::make_shared<const Calibration>(*std::move(calibration));
  return model;
}

void save_model(const fs::path& folder, const PairModel& model, DType dtype) {
  write_vocabularies(folder, model);
  const std::string where = files::path_text(folder / kConfig);
  nlohmann::json config{
      {"format", kFolderFormat},
      {"task", model.task},
      {"shared_vocabulary", shares_vocabulary(model)},
      {"limits", {{"source", model.limits.source}, {"target", model.limits.target}}},
      {"model", files::parse_json(models::to_json(model.options), where)},
      {"history", files::parse_json(model.history, where)}};
  if (!model.language.empty()) config["language"] = model.language;
  files::write_json(folder / kConfig, config);
  nn::save_state(folder / kWeights, *model.model, dtype, checksums(model));
}

std::string kind_of(const PairModel& model) {
  return models::option_values("kind").at(static_cast<std::size_t>(model.options.kind));
}

}  // namespace attn::tasks
