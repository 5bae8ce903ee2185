#include "tools/attn/training_data.hpp"

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/prepare.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// Enough of a checksum to tell two apart by eye.
std::string head_of(const std::string& checksum) {
  return checksum.substr(0, 12);
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const bool has = object.is_object() && object.contains(key) && object[key].is_string();
  return has ? object[key].get<std::string>() : "";
}

/// The word behind a flag in a command, or "".
std::string word_behind(std::string_view command, std::string_view flag) {
  const std::size_t at = command.find(flag);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = command.substr(at + flag.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

/// A folder without training.json, such as one that was copied: its card tells.
void read_card(const fs::path& folder, const tasks::PairModel& model,
               tasks::TrainingRequest& request) {
  const nlohmann::json history = files::parse_json(model.history, files::path_text(folder));
  const nlohmann::json data = history.value("data", nlohmann::json::object());
  const std::string command = text_at(history, "command");
  std::string file = word_behind(command, " --data ");
  if (!text_at(data, "sha256").empty()) file = text_at(data, "name");
  if (!file.empty())
    fail<FileError>("the model in ", files::path_text(folder),
                    " learnt from a file of its own, ", files::in_quotes(file),
                    "; name that file with --data FILE to score it");
  std::string language = text_at(data, "language");
  if (language.empty()) language = word_behind(command, " --language ");
  if (!language.empty()) request.language = language;
}

}  // namespace

void check_same_data(const tasks::TrainingRequest& request, const tasks::Corpus& corpus,
                     const std::string& advice) {
  if (request.data_checksum.empty() || request.data_checksum == corpus.checksum) return;
  fail<FileError>(files::path_text(request.data),
                  " is not what was learnt from: its SHA-256 is ", head_of(corpus.checksum),
                  "..., and was ", head_of(request.data_checksum),
                  "... when the training began. ", advice);
}

tasks::TrainingRequest data_of_model(const fs::path& folder, const tasks::PairModel& model,
                                     const TrainingFlags& flags) {
  tasks::TrainingRequest request = tasks::default_request(tasks::pair_task_named(model.task));
  std::error_code ignored;
  if (flags.language.empty()) {
    if (fs::exists(folder / "training.json", ignored)) {
      const tasks::TrainingRequest saved = tasks::load_request(folder);
      request.language = saved.language;
      request.data = saved.data;
      request.data_checksum = saved.data_checksum;
      request.source_column = saved.source_column;
      request.target_column = saved.target_column;
    } else if (flags.data.empty()) {
      read_card(folder, model, request);
    }
  }
  apply(flags, request);
  if (flags.data.empty() && !request.data.empty() && !fs::exists(request.data, ignored))
    fail<FileError>("the model in ", files::path_text(folder), " learnt from ",
                    files::path_text(request.data),
                    ", which is not there; name where it is now with --data FILE");
  return request;
}

}  // namespace attn::tools
