/// The texts of tests/data/metrics, with scores that others' programs gave them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace attn::text {

inline nlohmann::json metric_cases(const std::string& name) {
  std::ifstream file(std::string(ATTN_TEST_DATA) + "/metrics/" + name);
  return nlohmann::json::parse(file);
}

/// Files of references, line by line, become references of lines.
inline std::vector<std::vector<std::string>> by_line(
    const std::vector<std::vector<std::string>>& files) {
  std::vector<std::vector<std::string>> lines(files.at(0).size());
  for (const auto& file : files)
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i].push_back(file.at(i));
  return lines;
}

}  // namespace attn::text
