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

}  // namespace attn::cpu
