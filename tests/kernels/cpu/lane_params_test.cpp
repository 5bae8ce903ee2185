/// lane_params.hpp on every instruction set this machine has.

#include "isa/lane_sets.hpp"

namespace attn::cpu {
namespace {

class LaneParamsOf : public LaneSetTest {};

TEST_P(LaneParamsOf, ReadsAndDifferentiatesAsScalarsDo) {
  every_claim_holds(GetParam().lane_params);
}

INSTANTIATE_TEST_SUITE_P(Sets, LaneParamsOf, each_lane_set(), kLaneSetName);

}  // namespace
}  // namespace attn::cpu
