#include "tools/attn/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>

namespace attn::tools {
namespace {

volatile std::sig_atomic_t g_asked = 0;  // NOLINT(readability-identifier-naming): a signal's

/// Gives both signals back to the system, so that the second one ends the program at once.
void note(int) {
  g_asked = 1;
  struct sigaction ending{};
  ending.sa_handler = SIG_DFL;
  sigaction(SIGINT, &ending, nullptr);
  sigaction(SIGTERM, &ending, nullptr);
}

/// A frame of a signal holds all vector registers: 3 KiB with AVX-512, 11 with AMX. The system
/// says how much it needs; the handler itself needs next to nothing.
std::size_t stack_size() {
  constexpr long kLeast = 64 << 10;
  return static_cast<std::size_t>(std::max(kLeast, sysconf(_SC_SIGSTKSZ)));
}

/// Gives this thread a stack for signals, unless it has one. It is never freed: a signal may
/// come at the very end.
void take_signals_on_a_stack() {
  stack_t here{};
  sigaltstack(nullptr, &here);
  if ((here.ss_flags & SS_DISABLE) == 0) return;
  thread_local std::byte* stack = nullptr;
  stack = new std::byte[stack_size()];  // NOLINT(cppcoreguidelines-owning-memory)
  stack_t ours{};
  ours.ss_sp = stack;
  ours.ss_size = stack_size();
  sigaltstack(&ours, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  g_asked = 0;
  take_signals_on_a_stack();
  struct sigaction noting{};
  noting.sa_handler = note;
  noting.sa_flags = SA_ONSTACK | SA_RESTART;
  sigemptyset(&noting.sa_mask);
  sigaction(SIGINT, &noting, nullptr);
  sigaction(SIGTERM, &noting, nullptr);
}

bool Interrupt::asked() const {
  return g_asked != 0;
}

}  // namespace attn::tools
