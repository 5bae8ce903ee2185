#include "tools/serve/openapi.hpp"

#include <string_view>

namespace attn::serve {

std::string_view openapi_text() {
  // Made from openapi.json by tools/CMakeLists.txt.
  static constexpr std::string_view kText =
#include "serve_openapi.inc"
      ;
  return kText;
}

}  // namespace attn::serve
