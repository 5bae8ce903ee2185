/// The tile kernels of the catalogue's functors for one instruction set, by kind.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/stage.hpp"

namespace attn::cpu {

struct StageTable {
  const PointwiseOps* scores[catalogue::Scores::kCount];
  const MaskOps* masks[catalogue::Masks::kCount];
  const NormaliserOps* normalisers[catalogue::Normalisers::kCount];
  const PointwiseOps* weights[catalogue::Weights::kCount];
};

// Each instruction set's objects define their own.
namespace sse4 {
const StageTable& stage_table();
}
namespace avx2 {
const StageTable& stage_table();
}
namespace avx512 {
const StageTable& stage_table();
}
namespace neon {
const StageTable& stage_table();
}

}  // namespace attn::cpu
