// Training steps of libtorch, run by a child program.

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "peers/process.hpp"
#include "training/workload.hpp"

namespace attn::bench {
namespace {

class LibtorchWorkload : public Workload {
 public:
  LibtorchWorkload(std::unique_ptr<Process> process, std::string row, int threads)
      : process_(std::move(process)), row_(std::move(row)), threads_(threads) {}

  double seconds(int calls) override {
    process_->send("run " + row_ + " " + std::to_string(threads_) + " " +
                   std::to_string(calls));
    // Libraries sometimes write to standard output too; an answer is a line that is an object.
    while (true) {
      const auto answer = nlohmann::json::parse(process_->receive(), nullptr, false);
      if (!answer.is_object()) continue;
      if (answer.contains("error"))
        throw std::runtime_error(answer["error"].get<std::string>());
      return answer.at("seconds").get<double>();
    }
  }

 private:
  std::unique_ptr<Process> process_;
  std::string row_;
  int threads_;
};

}  // namespace

std::unique_ptr<Workload> libtorch_workload(const std::string& row, int threads, bool tuned) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() /
                       "attn-bench-libtorch-training";
  if (!std::filesystem::exists(program)) return nullptr;
  const std::vector<std::string> keep_memory{"MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=-1",
                                             "MALLOC_TOP_PAD_=268435456"};
  return std::make_unique<LibtorchWorkload>(
      std::make_unique<Process>(std::vector<std::string>{program.string()},
                                tuned ? keep_memory : std::vector<std::string>{}),
      row, threads);
}

}  // namespace attn::bench
