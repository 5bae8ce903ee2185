#include "signals/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace attn::test {
namespace {

/// Whether `done` came true within the time.
template <class Done>
bool wait_for(std::chrono::seconds at_most, const Done& done) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace

Child::Child(std::vector<std::string> command, const std::filesystem::path& log) : log_(log) {
  std::vector<char*> raw;
  raw.reserve(command.size() + 1);
  for (std::string& word : command) raw.push_back(word.data());
  raw.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (posix_spawn(&process_, raw[0], &streams, nullptr, raw.data(), environ) != 0)
    process_ = -1;
  posix_spawn_file_actions_destroy(&streams);
}

Child::~Child() {
  if (process_ <= 0 || ended()) return;
  kill(process_, SIGKILL);
  int status = 0;
  waitpid(process_, &status, 0);
}

bool Child::says(const std::string& text, std::chrono::seconds at_most) {
  bool said = false;
  wait_for(at_most, [&] {
    said = printed().find(text) != std::string::npos;
    return said || ended();
  });
  return said;
}

void Child::send(int signal) const {
  if (process_ > 0 && !status_) kill(process_, signal);
}

std::string Child::end(std::chrono::seconds at_most) {
  if (!wait_for(at_most, [&] { return ended(); })) return "runs";
  if (WIFSIGNALED(*status_)) return "signal " + std::to_string(WTERMSIG(*status_));
  return "exit " + std::to_string(WEXITSTATUS(*status_));
}

std::string Child::printed() const {
  std::ifstream file(log_);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

bool Child::ended() {
  if (status_ || process_ <= 0) return true;
  int status = 0;
  if (waitpid(process_, &status, WNOHANG) != process_) return false;
  status_ = status;
  return true;
}

}  // namespace attn::test
