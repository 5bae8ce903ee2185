/// WorkQueue: model calls on a few threads, with a line in front of them that has an end.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace attn::serve {

class WorkQueue {
 public:
  /// What becomes of a job: it runs, or it has waited too long, or the server ends.
  enum class Fate { run, late, closing };
  /// Called once, on one of the queue's threads; must not throw.
  using Job = std::function<void(Fate)>;

  WorkQueue(int threads, std::size_t waiting, std::chrono::milliseconds patience);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// False when the line is full or the queue closes; the job is then not kept.
  bool push(Job job);

  /// Jobs that wait meet Fate::closing, those that run are left to end.
  void close();

 private:
  struct Waiting {
    Job job;
    std::chrono::steady_clock::time_point since;
  };

  void work();

  const std::size_t most_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> line_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace attn::serve
