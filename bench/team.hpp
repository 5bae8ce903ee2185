/// Team: threads that wait for work, for the limits and for the unfused path.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace attn::bench {

class Team {
 public:
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls job(rank) once on every thread, the caller being rank 0, and waits for all.
  void run(const std::function<void(int)>& job);

  /// job(rank, i) for every i in [0, count), an equal run of i on each thread.
  void split(std::int64_t count, const std::function<void(int, std::int64_t)>& job);

 private:
  void work(int rank);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int)>* job_ = nullptr;
  std::uint64_t round_ = 0;
  int busy_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace attn::bench
