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
  /// The line is with the system when this returns, so that who watches sees it and a kill
  /// loses nothing of it; a full disk is a FileError.
  void write(const nlohmann::json& line);

 private:
  void flush();

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace attn::tasks
