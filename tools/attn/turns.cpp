// Turns as the input of a task.

#include "tools/attn/turns.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/answer.hpp"

namespace attn::tools {

tasks::Input input_of_turns(const std::vector<std::string>& turns) {
  std::string text;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].find_first_not_of(" \t\r\n") == std::string::npos)
      fail("turn ", i + 1, " is empty; each turn says something");
    std::string line = turns[i];
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::replace(line.begin(), line.end(), '\r', ' ');
    text += (i == 0 ? "" : "\n") + line;
  }
  return text;
}

tasks::Input input_of_turns(std::string_view line) {
  std::string text(line);
  std::replace(text.begin(), text.end(), '\t', '\n');
  return text;
}

}  // namespace attn::tools
