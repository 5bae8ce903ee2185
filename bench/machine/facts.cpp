// SPDX-License-Identifier: Apache-2.0

#include "machine/facts.hpp"

#include <stdlib.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "isa/kernels.hpp"
#include "machine/instruction_sets.hpp"

namespace attn::bench {
namespace {

/// The first `name : value` of /proc/cpuinfo.
std::string cpu_info(std::string_view name) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto end = line.find_last_not_of(" \t", colon - 1);
    if (end != std::string::npos && std::string_view(line).substr(0, end + 1) == name) {
      return colon + 2 <= line.size() ? line.substr(colon + 2) : std::string();
    }
  }
  return {};
}

double load_average() {
  double load = -1;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string system_name() {
  utsname name{};
  if (uname(&name) != 0) return {};
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

}  // namespace

Facts facts() {
  Facts facts{.cpu = cpu_info("model name"),
              .flags = cpu_info("flags"),
              .family = std::atoi(cpu_info("cpu family").c_str()),
              .model = std::atoi(cpu_info("model").c_str()),
              .cores = static_cast<int>(std::thread::hardware_concurrency()),
              .load = load_average(),
              .compiler = compiler(),
              .system = system_name(),
              .sets = {}};
  for (const Kernels* kernels : instruction_sets()) facts.sets.emplace_back(kernels->set);
  return facts;
}

}  // namespace attn::bench
