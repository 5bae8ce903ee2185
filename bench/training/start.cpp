// SPDX-License-Identifier: Apache-2.0
//
// C13: how long the program takes to start.

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>

#include "training/workload.hpp"

namespace attn::bench {
namespace {

/// Seconds from the start of a program to its end; its output goes nowhere.
double run_once(const std::string& program, const char* argument) {
  const auto begin = std::chrono::steady_clock::now();
  const auto child = fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), argument, nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) return -1.0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void measure_start(bool quick) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "attn";
  fmt::print("\nC13  start of the program\n");
  if (!std::filesystem::exists(program)) {
    fmt::print("    attn does not lie beside attn-bench\n");
    return;
  }
  double best = -1.0;
  for (int round = 0; round < (quick ? 10 : 40); ++round) {
    const double seconds = run_once(program.string(), "--version");
    if (seconds < 0.0) {
      fmt::print("    {} could not be run\n", program.string());
      return;
    }
    best = best < 0.0 ? seconds : std::min(best, seconds);
  }
  fmt::print("    attn --version   {:.1f} ms; {} floor 20, goal 10\n", 1e3 * best,
             best <= 0.020 ? "met:" : "MISSED:");
}

}  // namespace attn::bench
