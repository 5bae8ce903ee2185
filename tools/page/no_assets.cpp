// Where the page was not built.

#include <span>

#include "tools/page/assets.hpp"

namespace attn::tools {

std::span<const Asset> page_assets() {
  return {};
}

}  // namespace attn::tools
