/// lane_math.hpp on every instruction set this machine has.

#include "isa/lane_sets.hpp"

namespace attn::cpu {
namespace {

class LaneMathOf : public LaneSetTest {};

TEST_P(LaneMathOf, StaysWithinItsErrorBounds) {
  every_claim_holds(GetParam().lane_math);
}

INSTANTIATE_TEST_SUITE_P(Sets, LaneMathOf, each_lane_set(), kLaneSetName);

}  // namespace
}  // namespace attn::cpu
