/// The commands of the program attn. Each is one file; run() finds the one that was asked for.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attn/tensor/storage.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}
namespace attn::nn {
struct Mechanism;
}
namespace attn::tasks {
class Task;
}

namespace attn::tools {

/// What the program says to the shell.
enum Status : int {
  success = 0,
  failure = 1,  ///< something asked for is wrong or did not work
  usage = 2,    ///< it was asked in a wrong way
};

/// Where a command writes.
struct Streams {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
};

/// Runs `attn arguments...`. Never throws; messages go to streams.err.
int run(const std::vector<std::string>& arguments, const Streams& streams = {});

/// The name of every command, as --help lists them.
std::vector<std::string> command_names();

/// What the arguments ask for, set while they are parsed.
using Action = std::function<int(const Streams&)>;

// Each adds its subcommand and its options to the program, and sets `action` when it is asked
// for.
void add_mechanisms(CLI::App& app, Action& action);
void add_gradcheck(CLI::App& app, Action& action);
void add_regress(CLI::App& app, Action& action);
void add_lesson(CLI::App& app, Action& action);
void add_diagram(CLI::App& app, Action& action);
void add_map(CLI::App& app, Action& action);
void add_gallery(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
void add_score(CLI::App& app, Action& action);
void add_embed(CLI::App& app, Action& action);
void add_transcribe(CLI::App& app, Action& action);
/// The command that answers, of a task of any kind.
void add_task(CLI::App& app, const tasks::Task& task, Action& action);
void add_train(CLI::App& app, Action& action);
void add_eval(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_models(CLI::App& app, Action& action);
void add_compress(CLI::App& app, Action& action);
void add_tasks(CLI::App& app, Action& action);

struct ConformanceOptions {
  std::vector<std::string> folders;
  bool every_target = false;
  bool verbose = false;
  int threads = 0;
  Device device = Device::cpu;
};
/// A line for each case that failed, then `N passed, M failed`.
int conformance(const ConformanceOptions& options, const Streams& streams);

enum class InfoFormat { text, json };
int info(InfoFormat format, const Streams& streams);
/// Which kernels a call takes, and why: `query` is "DTYPE OPTIONS BxHxNxD".
int info_route(const std::string& query, Device device, const Streams& streams);

/// Becomes attn-bench; returns only if it cannot.
int bench(const std::vector<std::string>& arguments, const Streams& streams);
/// attn-bench in the folder of the program, or in ../bench beside it.
std::optional<std::filesystem::path> find_bench(const std::filesystem::path& program_folder);

/// The mechanism of that name; an error suggests the nearest.
const nn::Mechanism& mechanism_named(const std::string& name);

/// The name that is nearest to `word` in edits, if one is near: more than `share` of a word
/// changed is another word.
std::optional<std::string> nearest(const std::string& word,
                                   const std::vector<std::string>& names, double share = 0.5);

}  // namespace attn::tools
