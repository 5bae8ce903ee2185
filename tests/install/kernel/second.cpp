// A second call of attn_kernel_sources adds to the first.

#include "names.hpp"

namespace app::ATTN_TARGET {

int second() {
  return 1;
}

}  // namespace app::ATTN_TARGET
