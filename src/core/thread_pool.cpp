#include "attn/core/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
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
    busy_ = threads - 1;
    ++generation_;
  }
  wake_.notify_all();
  inside_task = true;
  drain(0);
  inside_task = false;
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
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
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || (generation_ != seen && index < invited_); });
    if (stopping_) return;
    seen = generation_;
    lock.unlock();
    drain(index + 1);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace attn
