#include "tasks/model_folder.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

Tensor weights_of(const Beginning& other, const nn::NamedTensor& own) {
  const Tensor from = nn::find_tensor(other.model->named_parameters(), own.name);
  if (!from.defined() || !(from.shape() == own.tensor.shape()))
    fail("the model in ", files::path_text(other.folder), " has other sizes: ", own.name,
         " is ", from.defined() ? from.text() : "not there", ", not ", own.tensor.text());
  return from;
}

}  // namespace

nlohmann::json read_config(const std::filesystem::path& folder, const char* command) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / kConfig, ignored))
    fail<FileError>(files::path_text(folder), " is no model folder: it has no ", kConfig, "; `",
                    command, "` makes one");
  nlohmann::json config = files::read_json(folder / kConfig);
  if (!config.is_object() || config.contains("format") || !config.contains("model_type"))
    return config;
  const nlohmann::json& type = config["model_type"];
  fail<Unsupported>(
      files::path_text(folder), " is a Hugging Face folder of model_type ",
      type.is_string() ? files::in_quotes(type.get<std::string>()) : "unknown",
      "; attn cannot run these yet. A folder that `attn train` wrote is accepted");
}

void check_format(const nlohmann::json& config, const std::string& where) {
  const std::int64_t format = files::to_int(files::member(config, "format", where), where);
  if (format != kFolderFormat)
    fail<FileError>(where, ": format is ", format, "; this program reads ", kFolderFormat);
}

std::string history_in(const nlohmann::json& config) {
  return config.contains("history") ? config["history"].dump() : "{}";
}

void check_finite(const nn::Module& module, const std::filesystem::path& path) {
  for (const auto& [name, tensor] : module.named_parameters()) {
    const Tensor packed = tensor.detach().contiguous();
    const float* values = packed.data<float>();
    const float* end = values + packed.numel();
    const float* bad = std::find_if(values, end, [](float x) { return !std::isfinite(x); });
    if (bad != end)
      fail<FileError>(files::path_text(path), " is damaged: ", name, " holds ", *bad,
                      "; finite weights are accepted");
  }
}

void begin_with(nn::Module& model, std::span<const Beginning> others) {
  const NoGrad off_the_tape;
  const auto ours = model.named_parameters();
  std::vector<Tensor> means;
  means.reserve(ours.size());
  for (const nn::NamedTensor& own : ours) {
    Tensor sum = weights_of(others.front(), own);
    for (const Beginning& other : others.subspan(1)) sum = sum + weights_of(other, own);
    means.push_back(sum / static_cast<double>(others.size()));
  }
  for (std::size_t i = 0; i < ours.size(); ++i) Tensor(ours[i].tensor).copy_from(means[i]);
}

}  // namespace attn::tasks
