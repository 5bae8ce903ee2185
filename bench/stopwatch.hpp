/// Stopwatch: the time a call takes, by the wall or, on a busy machine, by the processor.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <time.h>

#include <cstdlib>
#include <ctime>
#include <string_view>

namespace attn::bench {

/// Set to "cpu" by `--clock cpu`; child programs inherit it.
inline constexpr const char* kClockVariable = "ATTN_BENCH_CLOCK";

inline bool by_processor() {
  static const bool kChosen = [] {
    const char* text = std::getenv(kClockVariable);
    return text != nullptr && std::string_view(text) == "cpu";
  }();
  return kChosen;
}

/// By the processor: the time all threads of this process ran, divided by `threads`. Turns that
/// neighbours took are not counted; nor is waiting of one thread for another.
class Stopwatch {
 public:
  explicit Stopwatch(int threads) : threads_(by_processor() ? threads : 1), start_(now()) {}
  double seconds() const { return (now() - start_) / threads_; }

 private:
  static double now() {
    timespec time{};
    clock_gettime(by_processor() ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  int threads_;
  double start_;
};

}  // namespace attn::bench
