/// Process: a child program that answers lines with lines.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <sys/types.h>

#include <string>
#include <vector>

namespace attn::bench {

class Process {
 public:
  /// Starts command[0] (searched in PATH) with `environment` (NAME=value) added to ours.
  Process(const std::vector<std::string>& command, const std::vector<std::string>& environment);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void send(const std::string& line);

  /// The next line, without its end. Throws std::runtime_error when the child is gone.
  std::string receive();

 private:
  std::string command_;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string pending_;
};

}  // namespace attn::bench
