#include "tools/attn/invocation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "attn/files/printable.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/training_end.hpp"

namespace attn::tools {
namespace {

constexpr std::string_view kName = "attn";

bool begins_a_word(std::string_view text, std::size_t at) {
  return at == 0 || std::string_view(" \n\t`'\"(").find(text[at - 1]) != std::string_view::npos;
}

/// Whether a command line stands there: "attn eval", and not "attn is" or the prefix "attn
/// eval:".
bool is_command_line(std::string_view text, std::size_t at) {
  std::string_view rest = text.substr(at + kName.size());
  if (!rest.starts_with(' ')) return false;
  rest.remove_prefix(1);
  if (rest.starts_with("--")) return true;
  const std::size_t end = rest.find_first_of(" \n\t`'\")<>;:,.");
  const std::string word(rest.substr(0, end));
  if (end != std::string_view::npos && rest[end] == ':') return false;
  const auto& names = command_names();
  return word == "help" || std::find(names.begin(), names.end(), word) != names.end();
}

}  // namespace

std::string invocation() {
  constexpr std::size_t kLongest = 200;
  const char* typed = std::getenv("ATTN_INVOKED_AS");
  if (typed == nullptr || *typed == '\0') return std::string(kName);
  return shell_word(files::printable(typed, kLongest));
}

std::string as_invoked(std::string_view text) {
  const std::string name = invocation();
  std::string result;
  std::size_t next = 0;
  for (std::size_t at = text.find(kName); at != std::string_view::npos;
       at = text.find(kName, at + kName.size())) {
    if (!begins_a_word(text, at) || !is_command_line(text, at)) continue;
    result.append(text.substr(next, at - next)).append(name);
    next = at + kName.size();
  }
  return result.append(text.substr(next));
}

}  // namespace attn::tools
