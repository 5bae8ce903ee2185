/// lane.hpp on every instruction set this machine has.

#include "isa/lane_sets.hpp"

namespace attn::cpu {
namespace {

class LaneOf : public LaneSetTest {};

TEST_P(LaneOf, AgreesWithScalars) {
  every_claim_holds(GetParam().lane);
}

INSTANTIATE_TEST_SUITE_P(Sets, LaneOf, each_lane_set(), kLaneSetName);

}  // namespace
}  // namespace attn::cpu
