/// The log of a training run: a JSON object a line, one every few steps.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json_fwd.hpp>

namespace attn::tasks {

class TrainingLog {
 public:
  explicit TrainingLog(std::filesystem::path path);

  /// Opens the log behind what was written up to that step; later lines belong to steps that
  /// will be made again and are taken out.
  void keep_until(std::int64_t step);
  void write(const nlohmann::json& line);
  /// Everything written is with the system; a full disk is a FileError.
  void flush();

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace attn::tasks
