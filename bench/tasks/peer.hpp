/// A decoding peer: a child program that reads a job from a file and answers lines.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <vector>

#include "peers/process.hpp"
#include "tasks/job.hpp"
#include "training/workload.hpp"

namespace attn::bench {

/// Sends "run FILE THREADS CALLS", answered by {"seconds"}, and "check FILE THREADS", answered
/// by {"answers"}; {"error"} is thrown as std::runtime_error.
class DecodingPeer : public Workload {
 public:
  DecodingPeer(const std::vector<std::string>& command, std::filesystem::path file,
               int threads);

  double seconds(int calls) override;
  std::vector<Tokens> answers();

 private:
  std::string ask(const std::string& verb, const std::string& rest);

  Process process_;
  std::filesystem::path file_;
  int threads_;
};

/// "name=command with arguments" taken apart.
struct NamedCommand {
  std::string name;
  std::vector<std::string> command;
};
NamedCommand named_command(const std::string& text);

}  // namespace attn::bench
