// attn conformance: runs the cases of a folder and counts what passed.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/conformance/run.hpp"

namespace attn::tools {

int conformance(const ConformanceOptions& options, const Streams& streams) {
  check_device(options.device, "attn conformance");
  // All folders are looked at first: a wrong one should not cost a long run.
  std::vector<std::filesystem::path> cases;
  for (const std::string& folder : options.folders) {
    const auto found = attn::conformance::find_cases(folder);
    cases.insert(cases.end(), found.begin(), found.end());
  }
  const attn::conformance::Options how{
      options.every_target ? attn::conformance::Targets::all : attn::conformance::Targets::best,
      options.threads, options.device};
  int passed = 0;
  int failed = 0;
  for (const auto& path : cases) {
    const attn::conformance::Outcome outcome = attn::conformance::run_case(path, how);
    ++(outcome.passed ? passed : failed);
    if (!outcome.passed) {
      fmt::print(streams.out, "FAILED {}: {}\n", outcome.name, outcome.message);
    } else if (options.verbose) {
      fmt::print(streams.out, "passed {}\n", outcome.name);
    }
  }
  fmt::print(streams.out, "{} passed, {} failed\n", passed, failed);
  return failed == 0 ? success : failure;
}

}  // namespace attn::tools
