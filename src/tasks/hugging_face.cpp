#include "tasks/hugging_face.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

namespace attn::tasks {

void refuse_hugging_face(const nlohmann::json& config, const std::filesystem::path& folder) {
  if (!config.is_object() || config.contains("format") || !config.contains("model_type"))
    return;
  const nlohmann::json& type = config["model_type"];
  fail<Unsupported>(
      files::path_text(folder), " is a Hugging Face folder of model_type ",
      type.is_string() ? files::in_quotes(type.get<std::string>()) : "unknown",
      "; attn cannot run these yet. A folder that `attn train` wrote is accepted");
}

}  // namespace attn::tasks
