// SPDX-License-Identifier: Apache-2.0

#include "team.hpp"

#include <cstdint>
#include <functional>
#include <mutex>

namespace attn::bench {

Team::Team(int threads) {
  for (int rank = 1; rank < threads; ++rank) {
    workers_.emplace_back([this, rank] { work(rank); });
  }
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void Team::run(const std::function<void(int)>& job) {
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    busy_ = static_cast<int>(workers_.size());
    ++round_;
  }
  wake_.notify_all();
  job(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void Team::split(std::int64_t count, const std::function<void(int, std::int64_t)>& job) {
  run([&](int rank) {
    const std::int64_t end = count * (rank + 1) / size();
    for (std::int64_t i = count * rank / size(); i < end; ++i) job(rank, i);
  });
}

void Team::work(int rank) {
  std::uint64_t seen = 0;
  while (true) {
    const std::function<void(int)>* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
      job = job_;
    }
    (*job)(rank);
    {
      const std::lock_guard lock(mutex_);
      --busy_;
    }
    done_.notify_one();
  }
}

}  // namespace attn::bench
