// M2: the models that ship answer the same texts, many at a time and one by one.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/thread_pool.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "stopwatch.hpp"
#include "tasks/job.hpp"
#include "tasks/measure.hpp"
#include "tasks/peer.hpp"
#include "tasks/texts.hpp"
#include "training/entrants.hpp"
#include "training/workload.hpp"

namespace attn::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatches[] = {64, 1};
/// One by one, so many texts tell enough.
constexpr std::size_t kTextsOneByOne = 16;
/// How many times as fast as PyTorch, for translate on two threads and more.
constexpr double kFloor = 3.0;

class OurDecoding : public Workload {
 public:
  OurDecoding(const Job& job, int threads) : job_(job), threads_(threads) {}
  double seconds(int calls) override {
    ThreadPool::set_default_threads(threads_);
    const Stopwatch watch(threads_);
    for (int call = 0; call < calls; ++call) answers_of(job_);
    return watch.seconds() / calls;
  }

 private:
  const Job& job_;
  int threads_;
};

/// A folder that is gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::temp_directory_path() / ("attn-bench-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Words written; a model that spells answers one word each time.
double words_of(const Job& job, const tasks::PairTask& task,
                const std::vector<Tokens>& answers) {
  if (task.metric == tasks::Metric::phones) return static_cast<double>(answers.size());
  double words = 0.0;
  for (const Tokens& answer : answers) {
    std::istringstream text(job.model.target.decode(answer));
    for (std::string word; text >> word;) ++words;
  }
  return words;
}

std::vector<std::string> spread(const std::vector<std::string>& texts, std::size_t most) {
  if (texts.size() <= most) return texts;
  std::vector<std::string> some;
  some.reserve(most);
  for (std::size_t i = 0; i < most; ++i) some.push_back(texts[i * texts.size() / most]);
  return some;
}

/// One model and batch size: contenders enter, are compared with ours, and take turns.
class Contest {
 public:
  Contest(const tasks::PairTask& task, const fs::path& folder, std::size_t batch,
          const TaskOptions& options, const fs::path& tokens)
      : task_(task),
        options_(options),
        texts_(batch == 1 ? spread(texts_for(task), kTextsOneByOne) : texts_for(task)),
        job_(job_of(folder, texts_, batch)),
        answers_(answers_of(job_)),
        file_(tokens / (task.card.name + "-" + std::to_string(batch) + ".json")),
        name_(task.card.name + "/beam:5/batch:" + std::to_string(batch)) {
    write_job(file_, job_, answers_);
  }

  void run(int threads) {
    fmt::print("  {}/threads:{}\n", name_, threads);
    std::vector<Entrant> entrants;
    entrants.push_back({"attn", std::make_unique<OurDecoding>(job_, threads), {}});
    for (const std::string& peer : options_.peers) enter(peer, threads, entrants);
    compete(entrants, options_.quick ? 3 : 10);
    const double words = words_of(job_, task_, answers_);
    const double ours = entrants.front().best();
    for (const Entrant& entrant : entrants) {
      fmt::print("{}  {:>7.0f} words/s", line_of(entrant), words / entrant.best());
      if (&entrant != &entrants.front())
        fmt::print("  attn is {:.2f} times as fast", entrant.best() / ours);
      fmt::print("\n");
      if (entrant.name == "pytorch" && task_.card.name == "translate" && threads > 1)
        fmt::print("    {} floor {:.2f}: {:.2f} times pytorch\n",
                   entrant.best() / ours >= kFloor ? "met:" : "MISSED:", kFloor,
                   entrant.best() / ours);
    }
  }

 private:
  void enter(const std::string& text, int threads, std::vector<Entrant>& entrants) const {
    const NamedCommand peer = named_command(text);
    try {
      auto work = std::make_unique<DecodingPeer>(peer.command, file_, threads);
      const std::vector<Tokens> theirs = work->answers();
      std::size_t same = 0;
      for (std::size_t i = 0; i < std::min(theirs.size(), answers_.size()); ++i)
        same += theirs[i] == answers_[i] ? 1 : 0;
      fmt::print("    {}: {} of {} answers are the same, token for token\n", peer.name, same,
                 answers_.size());
      // Rounding may turn a near tie; more than a few such is another model.
      if (10 * same < 9 * answers_.size()) {
        fmt::print("    {} does not count: too few\n", peer.name);
        return;
      }
      entrants.push_back({peer.name, std::move(work), {}});
    } catch (const std::exception& failure) {
      fmt::print("    {} does not count: {}\n", peer.name, failure.what());
    }
  }

  const tasks::PairTask& task_;
  const TaskOptions& options_;
  std::vector<std::string> texts_;
  Job job_;
  std::vector<Tokens> answers_;
  fs::path file_;
  std::string name_;
};

}  // namespace

void measure_task_decoding(const TaskOptions& options) {
  fmt::print("\nM2  models that ship, answering: words a second\n");
  const TemporaryFolder temporary;
  const fs::path& tokens = options.tokens.empty() ? temporary.path() : options.tokens;
  fs::create_directories(tokens);
  for (const tasks::PairTask& task : tasks::all_pair_tasks()) {
    std::string looked;
    const fs::path folder = shipped_model(task.card.name, looked);
    if (folder.empty()) {
      fmt::print("  {}: skipped, there is no model in {}\n", task.card.name, looked);
      continue;
    }
    for (const std::size_t batch : kBatches) {
      Contest contest(task, folder, batch, options, tokens);
      for (const int threads : options.threads) contest.run(threads);
    }
  }
}

}  // namespace attn::bench
