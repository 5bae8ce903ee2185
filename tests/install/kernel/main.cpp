#include "names.hpp"

namespace app {
int lane_sum();
}

int main() {
  int sets = 0;
#define COUNT(set) sets += app::set::second();
  FOR_EACH_SET(COUNT)
#undef COUNT
#if defined(__x86_64__)
  return sets == 3 && app::lane_sum() == 16 + 8 + 4 ? 0 : 1;
#else
  return sets == 1 && app::lane_sum() == 4 ? 0 : 1;
#endif
}
