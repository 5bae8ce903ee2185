#include "tasks/everyday.hpp"

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>

namespace attn::tasks {
namespace {

struct Shipped {
  std::string_view language;
  std::string_view text;
};

// Made from data/everyday by cmake/AttnSplits.cmake; the last row keeps the array from being
// empty.
const Shipped kShipped[] = {
#include "everyday.inc"
    {"", ""}};

}  // namespace

std::unordered_map<std::string, double> everyday_words() {
  std::unordered_map<std::string, double> counts;
  std::istringstream lines{std::string(kShipped[0].text)};
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.find('\t');
    if (tab != std::string::npos)
      counts.emplace(line.substr(0, tab), std::strtod(line.c_str() + tab + 1, nullptr));
  }
  return counts;
}

}  // namespace attn::tasks
