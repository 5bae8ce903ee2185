/// Keeps oneDNN's OpenMP team at one thread on the calling thread, for a while.

#pragma once

// SPDX-License-Identifier: Apache-2.0

// OpenMP's own header comes with the compiler, and clang's tools do not find g++'s.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int threads);
}

namespace attn::gemm {

/// The pool already runs on every core; each of its threads would start a team of its own.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace attn::gemm
