// timer_beside_matmul SECONDS: multiplies 512 x 512 x 1804 while a timer's handler runs every 2
// ms, on the ordinary stack as a handler does that knows nothing of us. Fails if a product is
// not the first one bit for bit, or if the handler never ran.

// SPDX-License-Identifier: Apache-2.0

#include <signal.h>
#include <sys/time.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace {

volatile std::sig_atomic_t g_ticks = 0;

void tick(int) {
  // Some room on the stack, as a profiler's handler takes it.
  volatile char room[1024];
  for (volatile char& byte : room) byte = 1;
  g_ticks = g_ticks + room[7];
}

bool same(const attn::Tensor& a, const attn::Tensor& b) {
  return std::memcmp(a.data<float>(), b.data<float>(),
                     sizeof(float) * static_cast<std::size_t>(a.numel())) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1.0;
  struct sigaction ticking{};
  ticking.sa_handler = tick;
  ticking.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &ticking, nullptr);
  const itimerval every{{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &every, nullptr);

  attn::Random random(1);
  const attn::NoGrad off_the_tape;
  const attn::Tensor a = attn::uniform({512, 1804}, -1.0, 1.0, random);
  const attn::Tensor b = attn::uniform({1804, 512}, -1.0, 1.0, random);
  const attn::Tensor first = attn::matmul(a, b);
  int products = 1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (; std::chrono::steady_clock::now() < end; ++products) {
    if (same(attn::matmul(a, b), first)) continue;
    std::fprintf(stderr, "product %d is another one\n", products);
    return 1;
  }
  std::fprintf(stderr, "%d products, %d ticks\n", products, static_cast<int>(g_ticks));
  return g_ticks > 0 ? 0 : 1;
}
