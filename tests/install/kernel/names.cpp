#include "names.hpp"

namespace app {

int lane_sum() {
  int sum = 0;
#define ADD(set) sum += set::lanes();
  FOR_EACH_SET(ADD)
#undef ADD
  return sum;
}

}  // namespace app
