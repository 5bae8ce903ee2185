#include "attn/core/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "attn/core/error.hpp"

namespace attn {
namespace {

thread_local bool inside_task = false;

constexpr int kMostThreads = 1024;

/// How long a thread looks for work before it goes to sleep: about as long as waking it takes.
/// Work that comes in a row of small pieces, a step of a decoding say, then begins at once.
constexpr std::chrono::microseconds kPatience{50};

/// Tells the processor that this is a loop that waits.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Whether `ready` came true while it was looked at.
template <class Ready>
bool soon(bool look, const Ready& ready) {
  if (ready() || !look) return ready();
  const auto until = std::chrono::steady_clock::now() + kPatience;
  do {
    for (int i = 0; i < 8; ++i) {
      pause();
      if (ready()) return true;
    }
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

std::atomic<int>& chosen_threads() {
  static std::atomic<int> chosen = [] {
    int asked = 0;
    if (const char* text = std::getenv("ATTN_THREADS"))
      std::from_chars(text, text + std::strlen(text), asked);
    if (asked > 0) return std::min(asked, kMostThreads);
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }();
  return chosen;
}

}  // namespace

void yield_thread() {
  std::this_thread::yield();
}

ThreadPool& ThreadPool::shared() {
  static ThreadPool pool;
  return pool;
}

int ThreadPool::default_threads() {
  return chosen_threads();
}

void ThreadPool::set_default_threads(int threads) {
  if (threads < 1 || threads > kMostThreads)
    fail("attn::ThreadPool::set_default_threads: ", threads, "; 1 to ", kMostThreads,
         " are accepted");
  chosen_threads() = threads;
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::start(int tasks, int threads, Call function, const void* context) {
  threads = std::min(threads, tasks);
  std::unique_lock<std::mutex> owner;
  if (threads > 1 && !inside_task) owner = std::unique_lock(callers_, std::try_to_lock);
  if (!owner.owns_lock()) {
    for (int task = 0; task < tasks; ++task) function(context, task, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    while (static_cast<int>(workers_.size()) < threads - 1) {
      const int index = static_cast<int>(workers_.size());
      workers_.emplace_back([this, index] { work(index); });
    }
    tasks_ = tasks;
    call_ = function;
    context_ = context;
    next_.store(0, std::memory_order_relaxed);
    invited_ = threads - 1;
    // Threads without a processor of their own would look in each other's time.
    patient_.store(threads <= static_cast<int>(std::thread::hardware_concurrency()),
                   std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  inside_task = true;
  drain(0);
  inside_task = false;
  {
    // Who has not come by now finds nothing to do, and is not waited for.
    const std::lock_guard lock(mutex_);
    invited_ = 0;
  }
  const auto done = [this] { return busy_.load(std::memory_order_acquire) == 0; };
  if (soon(patient_.load(std::memory_order_relaxed), done)) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, done);
}

void ThreadPool::drain(int worker) {
  for (;;) {
    const int task = next_.fetch_add(1, std::memory_order_relaxed);
    if (task >= tasks_) return;
    call_(context_, task, worker);
  }
}

void ThreadPool::work(int index) {
  inside_task = true;
  std::uint64_t seen = 0;
  for (;;) {
    soon(patient_.load(std::memory_order_relaxed),
         [&] { return generation_.load(std::memory_order_relaxed) != seen; });
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] {
        return stopping_ ||
               (generation_.load(std::memory_order_relaxed) != seen && index < invited_);
      });
      if (stopping_) return;
      seen = generation_.load(std::memory_order_relaxed);
      busy_.fetch_add(1, std::memory_order_relaxed);
    }
    drain(index + 1);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) > 1) continue;
    // Under the lock, or the caller could miss it between its look and its sleep.
    const std::lock_guard lock(mutex_);
    done_.notify_one();
  }
}

}  // namespace attn
