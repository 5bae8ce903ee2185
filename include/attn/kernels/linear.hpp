/// Linear attention: a state of fixed size instead of a cache, in time linear in the steps. The
/// recurrences are in attn/pool/linear.hpp.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/pool/linear.hpp"

namespace attn {

/// out_t = scale * S_t^T q_t, S_t being made from S_{t-1}, k_t, v_t, decay_t and beta_t by the
/// rule. Query head h reads the state of kv head h / (heads / kv_heads).
template <class T>
struct LinearArgs {
  View<const T, 4> q;        ///< [batch, heads, steps, channels]
  View<const T, 4> k;        ///< [batch, kv_heads, steps, channels]; heads % kv_heads == 0
  View<const T, 4> v;        ///< [batch, kv_heads, steps, value channels]
  View<const T, 4> decay{};  ///< [batch, kv_heads, steps, 1 or channels], logarithms; gated
  View<const T, 3> beta{};   ///< [batch, kv_heads, steps]; delta rules
  View<const StatOf<T>, 4> past{};  ///< [batch, kv_heads, channels, value channels]; else zeros
  View<StatOf<T>, 4> state{};       ///< like past, optional: S of the last step; may be past
  View<T, 4> out;                   ///< [batch, heads, steps, value channels]
  pool::UpdateRule rule = pool::UpdateRule::gated_delta;
  double scale = 1.0;
};

/// Throws InvalidArgument unless sizes agree and the rule has what it needs, and no more.
template <class T>
void validate(const LinearArgs<T>& args);

namespace reference {
/// The recurrence in double, for T = double, float, BFloat16 or Float16.
template <class T>
void linear(const LinearArgs<T>& args);
}  // namespace reference

namespace cpu {
/// The same in fp32 for T = float, BFloat16 or Float16; heads and blocks of value channels,
/// which do not depend on each other, run in parallel.
template <class T>
void linear(const LinearArgs<T>& args, const Context& context = {});
}  // namespace cpu

}  // namespace attn
