#include "tasks/training_log.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"

namespace attn::tasks {

TrainingLog::TrainingLog(std::filesystem::path path) : path_(std::move(path)) {}

void TrainingLog::keep_until(std::int64_t step) {
  std::string kept;
  std::ifstream old(path_);
  for (std::string line; step > 0 && std::getline(old, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    // A line that a killed run left half-written belongs to no step.
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer())
      continue;
    if (json["step"].get<std::int64_t>() <= step) kept += line + "\n";
  }
  files::atomic_write(path_, kept);
  file_.open(path_, std::ios::app);
  flush();
}

void TrainingLog::write(const nlohmann::json& line) {
  // A model that writes bytes may write half a letter.
  file_ << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  flush();
}

void TrainingLog::flush() {
  file_.flush();
  if (!file_)
    fail<FileError>(files::path_text(path_), " could not be written; is the disk full?");
}

}  // namespace attn::tasks
