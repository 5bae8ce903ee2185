/// A program that a test starts, watches and sends signals to.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attn::test {

class Child {
 public:
  /// What it prints goes to the file `log`.
  Child(std::vector<std::string> command, const std::filesystem::path& log);
  /// Ends it if it still runs.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Whether it printed `text`; false if it ended or took too long.
  bool says(const std::string& text, std::chrono::seconds at_most);
  void send(int signal) const;
  /// How it ended: "exit 0", "signal 6"; "runs" if it took too long.
  std::string end(std::chrono::seconds at_most);
  std::string printed() const;

 private:
  bool ended();

  pid_t process_ = -1;
  std::filesystem::path log_;
  std::optional<int> status_;
};

}  // namespace attn::test
