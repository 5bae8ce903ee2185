// All commands behind one function: parses arguments, runs the action, explains errors.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/completion.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/invocation.hpp"
#include "tools/attn/version.hpp"

namespace attn::tools {

namespace {

struct Command {
  const char* name;
  void (*add)(CLI::App& app, Action& action);
};
constexpr Command kCommands[] = {
    {"tasks", add_tasks},
    {"models", add_models},
    {"compress", add_compress},
    {"train", add_train},
    {"eval", add_eval},
    {"compare", add_compare},
    {"data", add_data},
    {"mechanisms", add_mechanisms},
    {"gradcheck", add_gradcheck},
    {"regress", add_regress},
    {"lesson", add_lesson},
    {"diagram", add_diagram},
    {"map", add_map},
    {"gallery", add_gallery},
    {"explain", add_explain},
    {"serve", add_serve},
    {"score", add_score},
    {"embed", add_embed},
    {"transcribe", add_transcribe},
};

/// Whether the command `name` has a part in what begins with the word `asked`: describing the
/// flags of all would be most of the time of a start.
bool is_needed(std::string_view name, std::string_view asked) {
  if (asked == "--version") return false;
  return asked.empty() || asked.front() == '-' || asked == "completion" || asked == name;
}

}  // namespace

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const tasks::Task* task : tasks::all_tasks()) names.push_back(task->name());
  for (const Command& command : kCommands) names.emplace_back(command.name);
  for (const char* name : {"conformance", "info", "completion", "bench"})
    names.emplace_back(name);
  return names;
}

namespace {

constexpr const char* kAbout =
    "attn is attention for C++: it translates, pronounces, summarises and compares texts with\n"
    "small models that it trained itself, teaches every attention mechanism of the "
    "literature,\n"
    "and shows that its kernels are right and fast here.\n";

constexpr const char* kFooter = R"(
Attention is four small steps, and each is a folder of the library:

    score  ->  mask  ->  normalise  ->  pool
    s = f(q, k)   which pairs exist   scores become weights   weights times values

Examples:
    attn translate "a fast web server"        English becomes Italian
    attn pronounce attention                  letters become phones
    attn summarise README.txt                 a description becomes one line
    attn transcribe talk.wav                  what is said in a sound file
    attn caption --sample 3                   what is on a picture, and where it looked
    attn tasks                                what there is to do, and how well it is done
    attn models                               the models that ship
    attn help train                           what a command can do
    attn train pairs --data mine.tsv --out mine --minutes 3   a model of your own pairs
    attn pairs --model mine "a text"          what your model answers
    attn mechanisms                           every attention of the literature, one line each
    attn mechanisms bahdanau_decoder          one of them: formula, paper, parts, code
    attn regress co2                          kernel regression on real data, with its weights
    attn lesson                               what the tutorials say, computed
    attn diagram query-key-value --map f.svg  the figures that attention is explained with
    attn map alignment.json                   what attention looked at, here or as a picture
    attn explain translate "It is fast." --html f.html   an answer as a page that opens offline
    attn serve                                a page to try the models and look inside
    attn embed 'It rains' 'Bad weather'       how alike texts are, by a trained Transformer
    attn gradcheck score_additive             gradients against finite differences
    attn info                                 what the kernels see of this machine
    attn conformance tests/data/onnx          ONNX's own cases, on the kernels and the reference
    attn conformance --all-targets a b        two folders, on every instruction set there is
    attn conformance --device gpu a b         the same on the GPU
    attn bench --quick                        speed against this machine's limits, in minutes
    ATTN_THREADS=1 attn bench --rows C1       one core, one row

Exit status: 0 when all is well, 1 when something failed, 2 for a wrong command.)";

constexpr const char* kConformanceFooter = R"(
A case is a .safetensors file: inputs, what to run, and the outputs (and gradients) it must have.
A case of ONNX operators runs on the CPU kernels and on the plain loops that define them, and
every output is compared: within 1e-3 of the value for f32 and f64, two units in the last place
for f16 and bf16. With --device gpu it runs on the GPU's kernels alone: fused, fused for few
queries, and by whole rows. A case of a mechanism runs in f32 (within 5e-5 of 1 + |value|) and in f64
(1e-6), gradients too. A case that is not understood has failed. The last line is `N passed, M failed`.)";

/// A message for people: the library's begin with the qualified name of a function, which tells
/// a user nothing.
std::string_view without_function(std::string_view message) {
  const std::size_t end = message.find(": ");
  const bool named =
      end != std::string_view::npos && message.starts_with("attn::") &&
      std::all_of(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(end),
                  [](unsigned char c) { return c == '_' || c == ':' || std::isalnum(c) != 0; });
  return named ? message.substr(end + 2) : message;
}

int unknown_command(const std::string& word, const Streams& streams) {
  const auto close = nearest(word, command_names());
  fmt::print(streams.err, "attn: there is no command '{}'{}\n", word,
             close ? "; did you mean '" + *close + "'?" : "");
  fmt::print(streams.err, "{}", as_invoked("Run 'attn --help' for the commands.\n"));
  return usage;
}

/// The words behind a task or a command that has another spelling elsewhere.
std::vector<std::string> spelt_our_way(std::vector<std::string> arguments) {
  static const std::vector<std::string> kTakeTasks{"train", "eval",    "compare",
                                                   "data",  "explain", "help"};
  const auto rename = [](std::string& word) {
    if (word == "summarize") word = "summarise";
  };
  if (!arguments.empty()) rename(arguments[0]);
  if (arguments.size() > 1 &&
      std::find(kTakeTasks.begin(), kTakeTasks.end(), arguments[0]) != kTakeTasks.end())
    rename(arguments[1]);
  return arguments;
}

/// Tells of the first flag that the command does not have, with the one that was meant; ""
/// where all are known.
std::string unknown_flag(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  for (const std::string& word : app.remaining(true)) {
    const std::string name = word.substr(0, word.find('='));
    if (name.size() < 2 || name[0] != '-') continue;
    std::vector<std::string> flags;
    for (const CLI::Option* option : command.get_options())
      for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
    const std::string dashed =
        "--" + name.substr(std::min(name.find_first_not_of('-'), name.size()));
    const auto close = nearest(dashed, flags);
    const std::string owner = chosen.empty() ? "attn" : "attn " + command.get_name();
    return fmt::format("there is no flag {} of '{}'; {}\n", files::printable(name, 60), owner,
                       close ? "did you mean " + *close + "?"
                             : "'" + owner + " --help' lists those there are");
  }
  return "";
}

int parsed(const std::vector<std::string>& arguments, const Streams& streams) {
  CLI::App app(kAbout, invocation());
  app.footer(kFooter);
  app.set_version_flag("--version", version_text());
  app.require_subcommand(0, 1);

  Action action;
  const std::string asked = arguments.empty() ? "" : arguments.front();
  for (const tasks::Task* task : tasks::all_tasks())
    if (is_needed(task->name(), asked)) add_task(app, *task, action);
  for (const Command& command : kCommands)
    if (is_needed(command.name, asked)) command.add(app, action);

  ConformanceOptions cases;
  CLI::App* conform = app.add_subcommand(
      "conformance", "Run conformance cases on the kernels and on the reference");
  conform->footer(kConformanceFooter);
  conform->add_option("folders", cases.folders, "Folders of cases, or single cases")
      ->required()
      ->type_name("DIR");
  conform->add_flag("--all-targets", cases.every_target,
                    "Run every instruction set of this machine, not only the best");
  conform->add_flag("--verbose", cases.verbose, "Name the cases that pass, too");
  add_device_flag(*conform, cases.device, "Device whose kernels run");
  conform->add_option("--threads", cases.threads, "Threads a call may take; default: all")
      ->check(CLI::Range(1, 1024));

  bool json = false;
  CLI::App* about = app.add_subcommand(
      "info", "Show the CPU, its kernels, threads and caches, and which kernel a call takes");
  about->footer(
      "\nWhich instruction set the kernels take here, how many threads, what the caches hold "
      "and\n"
      "whether there is a GPU. With --route: which kernels a call of attention takes, why, and "
      "how\n"
      "fast they are. A call is an element type (f32, bf16, f16, f64), sizes, and what of "
      "these it "
      "has:\n"
      "causal, lengths, prefix, documents, dense, window=W; softcap, alibi, relative, t5, "
      "gaussian,\n"
      "bias, functor (one of your own), dropout; additive, cosine, distance; sink, sigmoid, "
      "mean,\n"
      "identity, sparsemax, hard; kv_heads=K, values=E; weights, train, paged, packed; linear, "
      "decays.\n"
      "\nExamples:\n"
      "    attn info\n"
      "    attn info --json\n"
      "    attn info --route \"bf16 causal 1x16x4096x128\" --device gpu\n"
      "    attn info --route \"f32 additive 8x1x128x512x256\"");
  about->add_flag("--json", json, "Print JSON");
  std::string route_query;
  about
      ->add_option("--route", route_query,
                   "A call: an element type, options, and batch x heads x queries x [keys x] "
                   "channels")
      ->type_name("CALL");
  Device route_device = Device::cpu;
  add_device_flag(*about, route_device, "Device that --route asks about");
  // Never parsed here: attn-bench reads its own arguments.
  app.add_subcommand("bench", "Measure speed: all further arguments go to attn-bench");

  std::string shell;
  CLI::App* complete =
      app.add_subcommand("completion", "Print a completion script for your shell");
  complete->footer(
      "\nExamples:\n"
      "    source <(attn completion bash)\n"
      "    attn completion zsh > ~/.zfunc/_attn\n"
      "    attn completion fish > ~/.config/fish/completions/attn.fish");
  complete->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  add_environment_twins(app);

  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    fmt::print(streams.out, "{}", as_invoked(out.str()));
    const std::string flag = code == 0 ? "" : unknown_flag(app);
    if (!flag.empty()) {
      fmt::print(streams.err, "attn: {}", as_invoked(flag));
    } else if (!err.str().empty()) {
      fmt::print(streams.err, "attn: {}", as_invoked(without_function(err.str())));
    }
    return code == 0 ? success : usage;
  }
  if (action) return action(streams);
  if (*complete) {
    fmt::print(streams.out, "{}", completion_script(app, shell));
    return success;
  }
  if (*conform) return conformance(cases, streams);
  if (*about && !route_query.empty()) return info_route(route_query, route_device, streams);
  if (*about) return info(json ? InfoFormat::json : InfoFormat::text, streams);
  fmt::print(streams.out, "{}", as_invoked(app.help()));
  return success;
}

int say_failure(std::string_view message, const Streams& streams) {
  std::fflush(streams.out);
  try {
    // Some begin with the command: "attn train: ...".
    fmt::print(streams.err, "{}{}\n",
               message.starts_with("attn ") ? "" : "attn: ", as_invoked(message));
  } catch (const std::exception&) {
    return failure;  // nowhere left to say it
  }
  return failure;
}

}  // namespace

int run(const std::vector<std::string>& words, const Streams& streams) {
  try {
    std::vector<std::string> arguments = spelt_our_way(words);
    if (arguments.size() == 1 && arguments[0] == "help") arguments = {"--help"};
    if (arguments.size() > 1 && arguments[0] == "help") arguments = {arguments[1], "--help"};
    if (!arguments.empty() && !arguments[0].empty() && arguments[0][0] != '-') {
      const std::string& word = arguments[0];
      if (word == "bench") return bench({arguments.begin() + 1, arguments.end()}, streams);
      const auto names = command_names();
      if (std::find(names.begin(), names.end(), word) == names.end())
        return unknown_command(word, streams);
    }
    const int status = parsed(arguments, streams);
    if (std::fflush(streams.out) != 0 || std::ferror(streams.out) != 0) {
      fmt::print(streams.err, "attn: the output could not be written\n");
      return failure;
    }
    return status;
  } catch (const std::bad_alloc&) {
    return say_failure("there is not enough memory for this", streams);
  } catch (const std::length_error&) {  // of a vector, and no library's text is of use here
    return say_failure("there is not enough memory for this", streams);
  } catch (const std::exception& error) {
    return say_failure(without_function(error.what()), streams);
  }
}

}  // namespace attn::tools
