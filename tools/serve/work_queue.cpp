#include "tools/serve/work_queue.hpp"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>

namespace attn::serve {

WorkQueue::WorkQueue(int threads, std::size_t waiting, std::chrono::milliseconds patience)
    : most_(waiting), patience_(patience) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

WorkQueue::~WorkQueue() {
  close();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkQueue::push(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (closing_ || line_.size() >= most_) return false;
    line_.push_back({std::move(job), std::chrono::steady_clock::now()});
  }
  wake_.notify_one();
  return true;
}

void WorkQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
}

void WorkQueue::work() {
  while (true) {
    Waiting next;
    bool closing = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || !line_.empty(); });
      if (line_.empty()) return;
      next = std::move(line_.front());
      line_.pop_front();
      closing = closing_;
    }
    const bool late = std::chrono::steady_clock::now() - next.since > patience_;
    next.job(closing ? Fate::closing : late ? Fate::late : Fate::run);
  }
}

}  // namespace attn::serve
