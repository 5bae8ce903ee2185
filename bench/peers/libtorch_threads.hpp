/// How many threads libtorch takes.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <torch/torch.h>

namespace attn::bench {

/// Of libtorch and of the BLAS behind it, which may have threads of its own.
inline void set_libtorch_threads(int threads) {
  static int now = 0;
  if (threads == now) return;
  now = threads;
  ::torch::set_num_threads(threads);
  using Set = void (*)(int);
  const auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set != nullptr) set(threads);
}

}  // namespace attn::bench
