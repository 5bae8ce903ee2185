// attn-bench: the rows of docs/performance.md, measured.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "contender.hpp"
#include "machine/facts.hpp"
#include "machine/instruction_sets.hpp"
#include "measure.hpp"
#include "peers/peers.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "rows/row.hpp"
#include "stopwatch.hpp"
#include "tasks/measure.hpp"
#include "training/workload.hpp"

namespace attn::bench {
namespace {

constexpr const char* kAbout =
    "Measures attn against its peers and against the limits of this machine.\n";

constexpr const char* kFooter = R"(
What happens: the limits of the machine (multiply-adds, memory reads) are measured first, then
each row. A row has cases, for example C1/forward/b:4/h:8/n:1024/d:64/threads:1: batch 4, 8
heads, 1024 queries and keys, 64 channels. In a case every contender is checked against a
reference in double, then contenders and limit take turns in random order, and the best
repetition of each counts: neighbours on the machine only ever make a repetition slower.

Reading a line:
    attn    84.0 ms   102.3 GF/s  76.0 %  extra 0.5 MB  noise 2 %  error 3e-07
  seconds a call, useful arithmetic a second, the share of the limit that is, memory beyond the
  caller's inputs and outputs (first call of a fresh process), median over best minus one, and
  the relative error. Other contenders end with how many times faster attn is.

Rows: C1 forward, C2 backward, C3 both with AVX2, C4 masks, C5 decode, C6 short sequences,
C7 and C8 additive attention, C9 memory, C10 seq2seq training step, C11 Transformer layer step,
C12 matrix product, C13 start of the program, M1 training steps of the tasks, M2 answers of the
models that ship; S (by name only) compares with PyTorch 2, and M2 does with --peer:
    attn-bench --rows S --threads 2,16 --peer "pytorch=python3 bench/peers/pytorch.py --serve"
    attn-bench --rows M2 --peer "pytorch=python3 bench/peers/pytorch_translate.py --serve"

Examples:
    attn-bench --quick                       a few minutes, every row
    attn-bench --rows C1,C2 --threads 1      two rows on one core
    attn-bench --json run.json               everything, kept for comparison
    attn-bench layers                        convolution, recurrence and attention over lengths

The exit status is 1 when a result of attn is wrong, 2 for a wrong command, and else 0: a missed
floor is printed, not punished, since a busy machine misses it too.)";

struct Command {
  std::vector<std::string> rows;
  std::vector<int> threads;
  std::vector<std::string> peers;
  std::string target, json, tokens, once, problem, clock = "wall";
  bool quick = false, list = false, check = false;
};

std::vector<int> default_threads() {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return cores == 1 ? std::vector{1} : std::vector{1, cores};
}

/// Whole pieces of work and not attention problems.
constexpr const char* kWorkloads[] = {"C10", "C11", "C12", "C13", "M1", "M2"};

bool is_workload(const std::string& row) {
  return std::find(std::begin(kWorkloads), std::end(kWorkloads), row) != std::end(kWorkloads);
}

std::vector<Row> chosen_rows(const Command& command) {
  const Options options{command.threads, command.target, command.quick};
  auto all = rows(options);
  std::string known;
  for (const Row& row : all) known.append(known.empty() ? "" : ", ").append(row.name);
  for (const char* row : kWorkloads) known.append(", ").append(row);
  for (const auto& wanted : command.rows) {
    if (is_workload(wanted)) continue;
    if (std::none_of(all.begin(), all.end(), [&](const Row& r) { return r.name == wanted; })) {
      throw std::invalid_argument(
          fmt::format("--rows: no row '{}' here; there are: {}", wanted, known));
    }
  }
  std::erase_if(all, [&](const Row& row) {
    if (command.rows.empty()) return row.name == "S";
    return std::find(command.rows.begin(), command.rows.end(), row.name) == command.rows.end();
  });
  return all;
}

int list(const Command& command) {
  for (const Row& row : chosen_rows(command)) {
    fmt::print("{}  {}\n", row.name, row.title);
    for (const Case& c : row.cases) fmt::print("  {}  [{}]\n", name(row, c), c.set);
  }
  fmt::print("contenders:\n");
  for (const Peer& peer : peers(command.peers)) {
    fmt::print("  {:<15} {}\n", peer.name, peer.about);
  }
  return 0;
}

/// The other side of once_in_child().
int run_once(const Command& command) {
  nlohmann::json answer;
  try {
    for (const Peer& peer : peers(command.peers)) {
      if (peer.name != command.once) continue;
      const Once once = once_here(peer, parse_problem(command.problem),
                                  {command.threads.front(), command.target},
                                  command.check ? Check::yes : Check::no);
      answer = {{"seconds", once.seconds},
                {"extra_bytes", once.extra_bytes},
                // JSON has no infinity.
                {"error_norm", std::min(once.error, 1e30)}};
    }
    if (answer.is_null()) answer = {{"error", "no contender '" + command.once + "'"}};
  } catch (const std::exception& failure) {
    answer = {{"error", failure.what()}};
  }
  fmt::print("{}\n", answer.dump());
  return 0;
}

/// Rows C10 to C13, M1 and M2, as far as they are asked for.
void run_workloads(const Command& command) {
  WorkloadOptions options{{}, command.threads, command.quick};
  std::copy_if(command.rows.begin(), command.rows.end(), std::back_inserter(options.rows),
               &is_workload);
  if (options.rows.empty() && !command.rows.empty()) return;
  const auto wanted = [&](const char* row) {
    return command.rows.empty() ||
           std::find(options.rows.begin(), options.rows.end(), row) != options.rows.end();
  };
  measure_workloads(options);
  if (wanted("C13")) measure_start(command.quick);
  const TaskOptions tasks{command.threads, command.quick, command.peers, command.tokens};
  if (wanted("M1")) measure_task_training(tasks);
  if (wanted("M2")) measure_task_decoding(tasks);
}

int run(const Command& command) {
  const auto wanted = chosen_rows(command);
  if (wanted.empty()) {
    run_workloads(command);
    return 0;
  }
  const Facts machine = facts();
  Measurer measurer(peers(command.peers), command.quick);
  measurer.sample_all_limits(command.threads);
  print_machine(machine, measurer.limits());

  bool right = true;
  std::vector<std::vector<CaseResult>> results;
  for (const Row& row : wanted) {
    print_row_title(row);
    auto& row_results = results.emplace_back();
    for (const Case& c : row.cases) {
      row_results.push_back(measurer.measure(c));
      print_case(row, row_results.back(), measurer.limits());
      const Result* ours = row_results.back().of("attn");
      right = right && ours != nullptr && ours->counts();
    }
  }
  measurer.sample_all_limits(command.threads);

  fmt::print("\nAt the end, with the best of every limit:\n");
  print_machine(facts(), measurer.limits());
  auto json_rows = nlohmann::json::array();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    print_verdicts(wanted[i], results[i], measurer.limits());
    json_rows.push_back(json_of(wanted[i], results[i], measurer.limits()));
  }
  if (!command.json.empty()) {
    std::ofstream file(command.json);
    file << nlohmann::json{{"machine", json_of(machine)},
                           {"threads", command.threads},
                           {"quick", command.quick},
                           {"clock", command.clock},
                           {"limits", json_of(measurer.limits())},
                           {"rows", std::move(json_rows)}}
                .dump(1)
         << "\n";
    if (!file.flush()) throw std::runtime_error("cannot write '" + command.json + "'");
  }
  run_workloads(command);
  return right ? 0 : 1;
}

int main_with(int argc, char** argv) {
  Command command;
  command.threads = default_threads();
  CLI::App app(kAbout, "attn-bench");
  app.footer(kFooter);
  app.add_option("--rows", command.rows, "Rows to run, for example C1,C4")->delimiter(',');
  app.add_option("--threads", command.threads, "Thread counts, rising; default 1 and all cores")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--target", command.target,
                 "Instruction set of attn: avx512, avx2, sse4, neon");
  app.add_option("--clock", command.clock,
                 "wall, or cpu: processor time over threads, for a busy machine")
      ->check(CLI::IsMember({"wall", "cpu"}));
  app.add_option("--json", command.json, "Write all measurements to this file");
  app.add_option("--peer", command.peers, "One more contender: name=command (a child program)");
  app.add_option("--tokens", command.tokens,
                 "Write what the models of M2 read and answered to this folder, as JSON");
  app.add_flag("--quick", command.quick, "Fewer repetitions");
  std::string instead;
  app.add_option("instead", instead,
                 "layers: the cost of three kinds of layers over lengths 64 to 8192")
      ->check(CLI::IsMember({"layers"}));
  app.add_flag("--list", command.list, "Name the rows, cases and contenders, and stop");
  app.add_option("--once", command.once, "One first call of this contender, as JSON")
      ->group("");
  app.add_option("--problem", command.problem, "The problem of --once")->group("");
  app.add_flag("--check", command.check, "Compare the result of --once")->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    return app.exit(failure) == 0 ? 0 : 2;
  }
  try {
    // A run of many minutes shows each line when it is there, into a pipe or a file as well.
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    // Before anything asks for the time; children inherit it.
    if (command.clock == "cpu") setenv(kClockVariable, "cpu", 1);
    if (command.target.empty()) command.target = instruction_sets().at(0)->set;
    instruction_set(command.target);
    if (!command.once.empty()) return run_once(command);
    if (instead == "layers") {
      measure_layers(command.quick);
      return 0;
    }
    return command.list ? list(command) : run(command);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "attn-bench: {}\n", failure.what());
    return 2;
  }
}

}  // namespace
}  // namespace attn::bench

// NOLINTNEXTLINE(bugprone-exception-escape): nothing is left to say when memory runs out
int main(int argc, char** argv) {
  return attn::bench::main_with(argc, argv);
}
