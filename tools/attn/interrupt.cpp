#include "tools/attn/interrupt.hpp"

#include <csignal>

namespace attn::tools {
namespace {

volatile std::sig_atomic_t g_asked = 0;  // NOLINT(readability-identifier-naming): a signal's

void note(int signal) {
  g_asked = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  g_asked = 0;
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Interrupt::asked() const {
  return g_asked != 0;
}

}  // namespace attn::tools
