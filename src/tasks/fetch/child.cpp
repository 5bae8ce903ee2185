#include "attn/tasks/fetch/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"

extern char** environ;

namespace attn::tasks {

namespace fs = std::filesystem;

Ended run_program(const std::vector<std::string>& arguments, const fs::path& out,
                  const fs::path& errors) {
  std::vector<char*> raw;
  raw.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);

  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kWrite, 0600);
  if (errors.empty()) {
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), kWrite, 0600);
  }
  pid_t child = 0;
  const int error = posix_spawnp(&child, raw[0], &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Ended::not_started;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return Ended::badly;
  return status == 0 ? Ended::well : Ended::badly;
}

std::string complaint(const fs::path& log) {
  constexpr std::uint64_t kMost = 1 << 20;
  constexpr std::size_t kShown = 400;
  std::string text;
  try {
    text = files::read_text(log, kMost);
  } catch (const Error&) {
    return "";
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > kShown) {
    text.erase(0, text.size() - kShown);
    text.erase(0, text.find('\n') + 1);  // whole lines; all of it where there is but one
  }
  for (char& c : text)
    if (c == '\n') c = ' ';
  return files::printable(text, kShown);
}

}  // namespace attn::tasks
