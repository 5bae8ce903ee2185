/// Linear attention as a recurrence: the state is a small matrix that keys write and queries
/// read. These are the definitions, one head and one step at a time.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"

namespace attn::pool {

/// How a key and its value change the state S [channels, value channels].
enum class UpdateRule {
  linear,  ///< S += k v^T. Katharopoulos et al., 2020, arXiv:2006.16236
  gated,   ///< S = e^g S + k v^T. Yang et al., 2024, arXiv:2312.06635
  delta,   ///< S += beta k (v - S^T k)^T. Schlag, Irie, Schmidhuber, 2021, arXiv:2102.11174
  gated_delta,  ///< S = e^g S, then delta. Yang, Kautz, Hatamizadeh, 2025, arXiv:2412.06464
};

ATTN_FN constexpr bool has_decay(UpdateRule rule) {
  return rule == UpdateRule::gated || rule == UpdateRule::gated_delta;
}
ATTN_FN constexpr bool has_delta(UpdateRule rule) {
  return rule == UpdateRule::delta || rule == UpdateRule::gated_delta;
}

/// One step of one head: what is written, and at what strength.
template <class T>
struct LinearStep {
  const T* k = nullptr;      ///< [channels]
  const T* v = nullptr;      ///< [value channels]
  const T* decay = nullptr;  ///< g, logarithms: [channels], or one with a stride of 0; gated
  long decay_stride = 1;
  T beta = T(1);  ///< delta
};

/// Updates state [channels, value channels], row-major; the decay comes first, and the delta
/// rule reads the decayed state. `write` [value channels] is scratch: what is added along k.
template <class T>
ATTN_FN void linear_update(UpdateRule rule, const LinearStep<T>& step, int channels, int values,
                           T* state, T* write) {
  if (has_decay(rule)) {
    for (int i = 0; i < channels; ++i) {
      const T keep = exp(step.decay[i * step.decay_stride]);
      for (int j = 0; j < values; ++j) state[i * values + j] *= keep;
    }
  }
  for (int j = 0; j < values; ++j) write[j] = step.v[j];
  if (has_delta(rule)) {
    for (int i = 0; i < channels; ++i)
      for (int j = 0; j < values; ++j) write[j] -= state[i * values + j] * step.k[i];
    for (int j = 0; j < values; ++j) write[j] *= step.beta;
  }
  for (int i = 0; i < channels; ++i)
    for (int j = 0; j < values; ++j) state[i * values + j] += step.k[i] * write[j];
}

/// out = scale * S^T q, S being the state after the query's own step.
template <class T>
ATTN_FN void linear_read(const T* q, const T* state, int channels, int values, T scale,
                         T* out) {
  for (int j = 0; j < values; ++j) out[j] = T(0);
  for (int i = 0; i < channels; ++i)
    for (int j = 0; j < values; ++j) out[j] += scale * q[i] * state[i * values + j];
}

}  // namespace attn::pool
