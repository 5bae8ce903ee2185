/// Asking the stages about one pair.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/kernels/gpu/functor/stages.cuh"

namespace attn::gpu {

/// A choice made at run time is a lot of code: a kernel that asks in several places has it
/// once.
template <class St>
__device__ __noinline__ bool keeps_once(const St& stages, Site<float> at) {
  return stages.mask.keep(at);
}
template <class St>
__device__ __noinline__ float modified_once(const St& stages, float s, Site<float> at) {
  return call_forward(stages.score, s, at,
                      DeviceParams{stages.score_tables.data, at.batch, at.head, at.q});
}
/// Whether the mask keeps a pair.
template <class St>
__device__ __forceinline__ bool keeps(const St& stages, const Site<float>& at) {
  if constexpr (St::kRolled) {
    return keeps_once(stages, at);
  } else {
    return stages.mask.keep(at);
  }
}
/// The score of a kept pair after the modifiers.
template <class St>
__device__ __forceinline__ float modified(const St& stages, float s, const Site<float>& at) {
  if constexpr (St::kRolled) {
    return modified_once(stages, s, at);
  } else {
    return call_forward(stages.score, s, at,
                        DeviceParams{stages.score_tables.data, at.batch, at.head, at.q});
  }
}

/// The gradient of the score before the modifiers; `s` went into them.
template <class St>
__device__ __noinline__ float modified_back_once(const St& stages, float grad, float s,
                                                 Site<float> at) {
  return call_backward(stages.score, grad, s, at,
                       DeviceParams{stages.score_tables.data, at.batch, at.head, at.q},
                       NoGrads{}, 0);
}
template <class St>
__device__ __forceinline__ float modified_back(const St& stages, float grad, float s,
                                               const Site<float>& at) {
  if constexpr (St::kRolled) {
    return modified_back_once(stages, grad, s, at);
  } else {
    return call_backward(stages.score, grad, s, at,
                         DeviceParams{stages.score_tables.data, at.batch, at.head, at.q},
                         NoGrads{}, 0);
  }
}

}  // namespace attn::gpu
