// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/load.hpp"

#include <filesystem>
#include <memory>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/task.hpp"
#include "tasks/transcribe/moonshine_model.hpp"

namespace attn::tasks {

std::unique_ptr<Model> load_transcriber(const std::filesystem::path& folder) {
  if (auto model = load_moonshine(folder)) return model;
  fail<FileError>(files::path_text(folder),
                  " holds no model of transcribe: neither config.json nor the files of ",
                  "Moonshine (dist/model/base and dist/model/tiny)");
}

}  // namespace attn::tasks
