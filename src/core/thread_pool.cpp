#include "attn/core/thread_pool.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
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

/// Below the number of a job in a word of claims.
constexpr int kTaskBits = 32;
/// A task behind the last one of any job.
constexpr std::uint64_t kClosed = 0x7FFFFFFF;

std::uint64_t number_of(std::uint64_t claims) {
  return claims >> kTaskBits;
}

int task_of(std::uint64_t claims) {
  return static_cast<int>(claims & 0xFFFFFFFFu);
}

/// Asked once: the system reads a file to answer, which takes longer than a small job.
int processors() {
  static const int kCount = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return kCount;
}

/// While one lives, threads that are started take no signals: a handler of the program's runs
/// on the program's own threads, never in the middle of a task. What a task itself raises, a
/// fault say, still reaches it.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
      sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

std::atomic<int>& chosen_threads() {
  static std::atomic<int> chosen = [] {
    int asked = 0;
    if (const char* text = std::getenv("ATTN_THREADS"))
      std::from_chars(text, text + std::strlen(text), asked);
    if (asked > 0) return std::min(asked, kMostThreads);
    return processors();
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

// A job is numbered, and `claims_` holds its number above the number of the next task. Who
// claims a task exchanges that whole word, so nobody claims a task of a job other than the one
// he has read of; who has read of an old one finds nothing to claim. When all tasks are counted
// as finished, no claim is left: claims are closed, and the next job is written. No lock is
// taken unless somebody sleeps: two threads that wait for a mutex go through the kernel, which
// takes longer than a small job.

void ThreadPool::start(int tasks, int threads, Call function, const void* context) {
  threads = std::min(threads, tasks);
  std::unique_lock<std::mutex> owner;
  if (threads > 1 && !inside_task) owner = std::unique_lock(callers_, std::try_to_lock);
  if (!owner.owns_lock()) {
    for (int task = 0; task < tasks; ++task) function(context, task, 0);
    return;
  }
  while (static_cast<int>(workers_.size()) < threads - 1) {
    const NoSignals inherited;
    const int index = static_cast<int>(workers_.size());
    workers_.emplace_back([this, index] { work(index); });
  }
  const std::uint64_t job = number_of(claims_.load(std::memory_order_relaxed)) + 1;
  claims_.store(((job - 1) << kTaskBits) | kClosed, std::memory_order_relaxed);
  finished_.store(0, std::memory_order_relaxed);
  tasks_.store(tasks, std::memory_order_release);
  call_.store(function, std::memory_order_release);
  context_.store(context, std::memory_order_release);
  invited_.store(threads - 1, std::memory_order_relaxed);
  // Threads without a processor of their own would look in each other's time.
  const bool patient = threads <= processors();
  patient_.store(patient, std::memory_order_relaxed);
  claims_.store(job << kTaskBits);  // before sleepers_ is read, as those who sleep do it
  if (sleepers_.load() > 0) {
    {
      const std::lock_guard lock(mutex_);
    }  // none is between its look and its sleep now
    wake_.notify_all();
  }
  inside_task = true;
  drain(job, 0);
  inside_task = false;
  const auto done = [&] { return finished_.load(std::memory_order_acquire) == tasks; };
  if (soon(patient, done)) return;
  std::unique_lock lock(mutex_);
  caller_sleeps_.store(true);
  done_.wait(lock, [&] { return finished_.load() == tasks; });
  caller_sleeps_.store(false);
}

void ThreadPool::drain(std::uint64_t job, int worker) {
  // Who reads of the next job here finds the claims of this one closed.
  const int tasks = tasks_.load(std::memory_order_acquire);
  const Call run = call_.load(std::memory_order_acquire);
  const void* context = context_.load(std::memory_order_acquire);
  std::uint64_t claims = claims_.load(std::memory_order_acquire);
  for (;;) {
    const int task = task_of(claims);
    if (number_of(claims) != job || task >= tasks) return;
    if (!claims_.compare_exchange_weak(claims, claims + 1, std::memory_order_acq_rel,
                                       std::memory_order_acquire))
      continue;
    run(context, task, worker);
    if (finished_.fetch_add(1) + 1 < tasks) {
      claims = claims_.load(std::memory_order_acquire);
      continue;
    }
    if (!caller_sleeps_.load()) return;
    // Under the lock, or the caller could miss it between its look and its sleep.
    const std::lock_guard lock(mutex_);
    done_.notify_one();
    return;
  }
}

void ThreadPool::work(int index) {
  inside_task = true;
  std::uint64_t seen = 0;
  const auto next = [&](std::memory_order order) {
    return number_of(claims_.load(order)) != seen;
  };
  for (;;) {
    const bool came = soon(patient_.load(std::memory_order_relaxed),
                           [&] { return next(std::memory_order_acquire); });
    if (!came) {
      std::unique_lock lock(mutex_);
      sleepers_.fetch_add(1);
      wake_.wait(lock, [&] { return stopping_ || next(std::memory_order_seq_cst); });
      sleepers_.fetch_sub(1);
      if (stopping_) return;
    }
    seen = number_of(claims_.load(std::memory_order_acquire));
    if (index < invited_.load(std::memory_order_relaxed)) drain(seen, index + 1);
  }
}

}  // namespace attn
