// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/load.hpp"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/task.hpp"
#include "tasks/model_folder.hpp"
#include "tasks/transcribe/moonshine_model.hpp"

namespace attn::tasks {

std::unique_ptr<Model> load_transcriber(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / kConfig, ignored)) {
    if (auto model = load_moonshine(folder)) return model;
    fail<FileError>(files::path_text(folder),
                    " holds no model of transcribe: neither config.json nor the files of ",
                    "Moonshine (dist/model/base and dist/model/tiny)");
  }
  const std::string where = files::path_text(folder / kConfig);
  const nlohmann::json config = read_config(folder, "attn train transcribe");
  check_format(config, where);
  const nlohmann::json& model = files::member(config, "model", where);
  const std::string& kind = files::to_text(files::member(model, "kind", where), where);
  fail<FileError>(where, ": model.kind is ", files::in_quotes(kind),
                  ", which no model of transcribe is");
}

}  // namespace attn::tasks
