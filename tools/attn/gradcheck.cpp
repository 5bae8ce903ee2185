// attn gradcheck: compares gradients of mechanisms with finite differences.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/gradient_check.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"

namespace attn::tools {
namespace {

struct GradcheckOptions {
  std::vector<std::string> names;
  bool all = false;
  std::uint64_t seed = 1;
  double tolerance = 1e-6;
  Device device = Device::cpu;
};

struct Counts {
  int passed = 0;
  int failed = 0;
  int nothing = 0;  ///< to compare
};

/// Prints a line for each input and parameter.
void check_one(const nn::Mechanism& mechanism, const GradcheckOptions& options,
               const Streams& streams, Counts& counts) {
  fmt::print(streams.out, "{}\n", mechanism.name);
  try {
    const std::vector<nn::GradientCheck> checks = nn::check_gradients(
        mechanism,
        {.seed = options.seed, .tolerance = options.tolerance, .device = options.device});
    if (checks.empty()) {
      fmt::print(streams.out, "  nothing to compare: {}\n", mechanism.no_gradient);
      ++counts.nothing;
      return;
    }
    bool passed = true;
    for (const nn::GradientCheck& check : checks) {
      fmt::print(streams.out, "  {:<6} {:<32} {:>6} numbers  worst {:.1e}\n",
                 check.passed ? "ok" : "WRONG", check.name, check.numbers, check.worst);
      passed = passed && check.passed;
    }
    ++(passed ? counts.passed : counts.failed);
  } catch (const Error& error) {
    // The others are checked all the same.
    fmt::print(streams.out, "  WRONG  {}\n", error.what());
    ++counts.failed;
  }
}

int gradcheck(const GradcheckOptions& options, const Streams& streams) {
  check_device(options.device, "attn gradcheck");
  std::vector<const nn::Mechanism*> chosen;
  chosen.reserve(options.names.size());
  for (const std::string& name : options.names) chosen.push_back(&mechanism_named(name));
  if (options.all)
    for (const nn::Mechanism* mechanism : nn::mechanisms())
      if (mechanism->example) chosen.push_back(mechanism);
  if (chosen.empty()) {
    fmt::print(streams.err, "attn: gradcheck needs the name of a mechanism, or --all\n");
    return usage;
  }
  Counts counts;
  for (const nn::Mechanism* mechanism : chosen) check_one(*mechanism, options, streams, counts);
  fmt::print(
      streams.out, "{} passed, {} failed{}\n", counts.passed, counts.failed,
      counts.nothing == 0 ? "" : fmt::format(", {} with nothing to compare", counts.nothing));
  return counts.failed == 0 ? success : failure;
}

}  // namespace

void add_gradcheck(CLI::App& app, Action& action) {
  auto options = std::make_shared<GradcheckOptions>();
  CLI::App* command = app.add_subcommand(
      "gradcheck", "Compare a mechanism's gradients with finite differences in double");
  command->footer(
      "\nRuns the mechanism's example, sends random gradients back from its outputs, and "
      "moves\n"
      "every input and parameter a little to see what really happens. A search and a whole\n"
      "training have no gradients; they say so. A mechanism of your own\n"
      "appears here once your program has called attn::nn::register_mechanism().\n\n"
      "Examples:\n"
      "    attn gradcheck score_additive\n"
      "    attn gradcheck --all --seed 3\n"
      "    attn gradcheck --all --device gpu");
  command->add_option("names", options->names, "Names of mechanisms")->type_name("NAME");
  command->add_flag("--all", options->all, "Check every mechanism");
  command->add_option("--seed", options->seed, "Random seed for the example; default 1")
      ->check(at_least(0));
  command
      ->add_option("--tolerance", options->tolerance,
                   "Largest error, relative to 1 + |expected|; default 1e-6")
      ->check(above(0));
  add_device_flag(*command, options->device, "Device that computes the mechanism");
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return gradcheck(*options, streams); };
  });
}

}  // namespace attn::tools
