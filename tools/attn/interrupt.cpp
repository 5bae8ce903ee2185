#include "tools/attn/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <memory>

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

}  // namespace

/// What was there before.
struct Interrupt::Before {
  stack_t stack{};
  struct sigaction interrupt{};
  struct sigaction terminate{};
};

Interrupt::Interrupt() : before_(std::make_unique<Before>()) {
  g_asked = 0;
  sigaltstack(nullptr, &before_->stack);
  if ((before_->stack.ss_flags & SS_DISABLE) != 0) {
    stack_ = std::make_unique<std::byte[]>(stack_size());
    stack_t ours{};
    ours.ss_sp = stack_.get();
    ours.ss_size = stack_size();
    sigaltstack(&ours, nullptr);
  }
  struct sigaction noting{};
  noting.sa_handler = note;
  noting.sa_flags = SA_ONSTACK | SA_RESTART;
  sigemptyset(&noting.sa_mask);
  sigaction(SIGINT, &noting, &before_->interrupt);
  sigaction(SIGTERM, &noting, &before_->terminate);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_->interrupt, nullptr);
  sigaction(SIGTERM, &before_->terminate, nullptr);
  if (stack_ != nullptr) sigaltstack(&before_->stack, nullptr);
}

bool Interrupt::asked() const {
  return g_asked != 0;
}

}  // namespace attn::tools
