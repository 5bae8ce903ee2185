/// Running cases that others wrote against the kernels.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <vector>

#include "attn/tensor/storage.hpp"

namespace attn::conformance {

/// Which instruction sets of the machine a case runs on.
enum class Targets { best, all };

struct Options {
  Targets targets = Targets::best;
  int threads = 0;  ///< 0: what a call takes by itself
  Device device = Device::cpu;
};

/// What became of one case.
struct Outcome {
  std::string name;  ///< of the file, without its extension
  bool passed = false;
  std::string message;  ///< one line: what is wrong and where, by how much; empty if it passed
};

/// The *.safetensors files of a folder, sorted; the path itself if it is such a file. FileError
/// if there is no such folder, or none in it.
std::vector<std::filesystem::path> find_cases(const std::filesystem::path& folder);

/// Runs a case on the CPU kernels and on the reference, or on the kernels of the GPU, and
/// compares every output and gradient that the file holds. What is not understood (an operator,
/// an attribute, an operation of a graph, a damaged file) fails the case; nothing is skipped
/// and nothing but lack of memory is thrown.
Outcome run_case(const std::filesystem::path& path, const Options& options = {});

}  // namespace attn::conformance
