// C13: how long the program takes to start.

// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>

#include "training/workload.hpp"

extern char** environ;

namespace attn::bench {
namespace {

/// Seconds from the start of a program to its end; its output goes nowhere. Spawned, not
/// forked: a fork copies the page tables of the rows before, which takes longer than the
/// program.
double run_once(const std::string& program, const std::string& argument) {
  std::string words[] = {program, argument};
  char* arguments[] = {words[0].data(), words[1].data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = -1;
  const int error = posix_spawn(&child, program.c_str(), &quiet, nullptr, arguments, environ);
  int status = error;
  if (error == 0) waitpid(child, &status, 0);
  const auto end = std::chrono::steady_clock::now();
  posix_spawn_file_actions_destroy(&quiet);
  return status != 0 ? -1.0 : std::chrono::duration<double>(end - begin).count();
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
