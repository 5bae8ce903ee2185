/// A pool of threads that runs numbered tasks. Results must not depend on who runs what.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn {

/// Lets another thread run; for a task that waits for one of a lower number.
void yield_thread();

/// Workers that sleep until there is something to do. Tasks are handed out in rising order, so
/// a task may wait for one of a lower number: that one is running or done.
class ThreadPool {
 public:
  /// The default pool of the kernels.
  static ThreadPool& shared();

  /// Threads that run when nobody asks for a number: ATTN_THREADS, else what the machine has.
  static int default_threads();
  /// Chooses that number from now on; results do not change.
  static void set_default_threads(int threads);

  ThreadPool() = default;
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls run(task) or run(task, worker) for every task in [0, tasks) on at most `threads`
  /// threads, the caller's among them (worker 0), and returns when all are done. `run` must not
  /// throw. From inside a task, or while another caller has the pool, everything runs on the
  /// calling thread.
  template <class Run>
  void parallel_for(int tasks, int threads, const Run& run) {
    start(tasks, threads, &call<Run>, &run);
  }

 private:
  using Call = void (*)(const void* context, int task, int worker);

  template <class Run>
  static void call(const void* context, int task, int worker) {
    const Run& run = *static_cast<const Run*>(context);
    if constexpr (std::is_invocable_v<const Run&, int, int>) {
      run(task, worker);
    } else {
      run(task);
    }
  }

  void start(int tasks, int threads, Call function, const void* context);
  void work(int index);
  void drain(std::uint64_t job, int worker);

  std::mutex callers_;  ///< held by the caller who has the pool
  std::vector<std::thread> workers_;
  // The job; written by its caller before its number is.
  std::atomic<int> tasks_{0};
  std::atomic<Call> call_{nullptr};
  std::atomic<const void*> context_{nullptr};
  std::atomic<int> invited_{0};       ///< workers of a lower index take part
  std::atomic<bool> patient_{false};  ///< whether to look before sleeping
  alignas(64) std::atomic<std::uint64_t> claims_{
      0};                                     ///< number of the job, and of its next task
  alignas(64) std::atomic<int> finished_{0};  ///< tasks
  std::atomic<bool> caller_sleeps_{false};
  // For those who sleep.
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  bool stopping_ = false;
};

}  // namespace attn
