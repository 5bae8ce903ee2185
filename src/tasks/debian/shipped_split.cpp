// The lists of splits that are compiled into the program.

#include <string>
#include <string_view>

#include "attn/core/error.hpp"
#include "attn/tasks/debian/split.hpp"

namespace attn::tasks {
namespace {

struct Shipped {
  std::string_view name;
  std::string_view text;
};

// Made from data/splits by cmake/AttnSplits.cmake; the last row keeps the array from being
// empty.
const Shipped kShipped[] = {
#include "splits.inc"
    {"", ""}};

}  // namespace

std::string_view shipped_split(std::string_view name) {
  std::string names;
  for (const Shipped& shipped : kShipped) {
    if (!name.empty() && shipped.name == name) return shipped.text;
    names += " " + std::string(shipped.name);
  }
  fail("attn::tasks::shipped_split: no split \"", std::string(name), "\"; there are:", names);
}

}  // namespace attn::tasks
