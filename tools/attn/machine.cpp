// SPDX-License-Identifier: Apache-2.0

#include "tools/attn/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace attn::tools {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The first `name : value` of /proc/cpuinfo.
std::string cpu_info(std::string_view name) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, name.size(), name) != 0) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

/// "48K", "2M".
std::int64_t bytes_of(const std::string& text) {
  std::int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  const char unit = end < text.data() + text.size() ? *end : ' ';
  return number * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
}

}  // namespace

Machine machine() {
  Machine result;
  result.cpu = cpu_info("model name");
  result.processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  constexpr int kMostCaches = 8;
  for (int i = 0; i < kMostCaches; ++i) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string level = first_line(folder + "level");
    const std::string type = first_line(folder + "type");
    const std::int64_t bytes = bytes_of(first_line(folder + "size"));
    if (level.empty() || bytes == 0 || type == "Instruction") continue;
    result.caches.push_back({"L" + level + (type == "Data" ? "d" : ""), bytes});
  }
  std::sort(result.caches.begin(), result.caches.end(),
            [](const CacheLevel& a, const CacheLevel& b) { return a.name < b.name; });
  return result;
}

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t kKilo = 1024;
  if (bytes >= kKilo * kKilo && bytes % (kKilo * kKilo) == 0)
    return std::to_string(bytes / kKilo / kKilo) + " MB";
  return std::to_string(bytes / kKilo) + " KB";
}

}  // namespace attn::tools
