/// The instruction sets the lane tests are built for, and whether this machine has them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "lane_report.hpp"

// isa/*_checks.cpp define these once for each set.
namespace attn::cpu {
#if defined(__x86_64__)
namespace avx512 {
void check_lane(LaneReport&);
void check_lane_math(LaneReport&);
void check_lane_params(LaneReport&);
}  // namespace avx512
namespace avx2 {
void check_lane(LaneReport&);
void check_lane_math(LaneReport&);
void check_lane_params(LaneReport&);
}  // namespace avx2
namespace sse4 {
void check_lane(LaneReport&);
void check_lane_math(LaneReport&);
void check_lane_params(LaneReport&);
}  // namespace sse4
#else
namespace neon {
void check_lane(LaneReport&);
void check_lane_math(LaneReport&);
void check_lane_params(LaneReport&);
}  // namespace neon
#endif

using LaneCheck = void (*)(LaneReport&);

struct LaneSet {
  const char* name;
  bool here;
  LaneCheck lane;
  LaneCheck lane_math;
  LaneCheck lane_params;
};

inline const LaneSet kLaneSets[] = {
#if defined(__x86_64__)
    {"avx512",
     __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd"),
     avx512::check_lane, avx512::check_lane_math, avx512::check_lane_params},
    {"avx2",
     __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c"),
     avx2::check_lane, avx2::check_lane_math, avx2::check_lane_params},
    {"sse4", __builtin_cpu_supports("sse4.2") != 0, sse4::check_lane, sse4::check_lane_math,
     sse4::check_lane_params},
#else
    {"neon", true, neon::check_lane, neon::check_lane_math, neon::check_lane_params},
#endif
};

/// A test for each set.
class LaneSetTest : public testing::TestWithParam<LaneSet> {
 protected:
  void every_claim_holds(LaneCheck check) {
    if (!GetParam().here) GTEST_SKIP() << "this processor has no " << GetParam().name;
    LaneReport report;
    check(report);
    ASSERT_GT(report.count, 0);
    ASSERT_LT(report.count, LaneReport::kRoom);
    for (int i = 0; i < report.count; ++i) {
      const LaneClaim& claim = report.claims[i];
      EXPECT_LE(claim.measured, claim.allowed) << claim.law << ", at " << claim.where;
    }
  }
};

inline auto each_lane_set() {
  return testing::ValuesIn(kLaneSets);
}
inline const auto kLaneSetName = [](const testing::TestParamInfo<LaneSet>& info) {
  return info.param.name;
};

}  // namespace attn::cpu
