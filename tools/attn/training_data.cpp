#include "tools/attn/training_data.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// Enough of a checksum to tell two apart by eye.
std::string head_of(const std::string& checksum) {
  return checksum.substr(0, 12);
}

}  // namespace

void check_same_data(const nlohmann::json& what, const tasks::Corpus& corpus,
                     const std::string& advice) {
  const std::string before = what.value("data_sha256", "");
  if (before.empty() || before == corpus.checksum) return;
  fail<FileError>(files::path_text(what.value("data", "")),
                  " is not what was learnt from: its SHA-256 is ", head_of(corpus.checksum),
                  "..., and was ", head_of(before), "... when the training began. ", advice);
}

nlohmann::json data_asked(const tasks::Task& task, const TrainingFlags& flags) {
  nlohmann::json what = task.defaults({}, nullptr).what;
  task.read(asked_by(flags, task, "attn eval"), "the command", what);
  return what;
}

nlohmann::json data_of_model(const fs::path& folder, const tasks::Model& model,
                             const TrainingFlags& flags) {
  const tasks::Task& task = model.task();
  const nlohmann::json asked = asked_by(flags, task, "attn eval");
  nlohmann::json what = task.defaults({}, nullptr).what;
  // A packaged model learnt elsewhere.
  if (!folder.empty()) task.read_data_of(model, folder, asked, what);
  task.read(asked, "the command", what);
  const fs::path data = what.value("data", "");
  std::error_code ignored;
  if (!asked.contains("data") && !data.empty() && !fs::exists(data, ignored))
    fail<FileError>("the model in ", files::path_text(folder), " learnt from ",
                    files::path_text(data),
                    ", which is not there; name where it is now with --data FILE");
  return what;
}

}  // namespace attn::tools
