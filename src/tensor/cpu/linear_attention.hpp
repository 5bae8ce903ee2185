/// Linear attention in chunks on the CPU, forward and backward.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/view.hpp"
#include "attn/kernels/linear.hpp"

namespace attn::cpu {

/// Gradients of LinearArgs' inputs, given those of its results. Views of `args` and these have
/// channels side by side and room for a row between steps; decay and beta are packed.
template <class T>
struct LinearGrads {
  View<const T, 4> d_out;    ///< like out
  View<const T, 4> d_state;  ///< like state
  View<T, 4> dq, dk, dv;
  View<T, 4> d_decay{};  ///< like decay, if there is one
  View<T, 3> d_beta{};   ///< like beta, if there is one
  View<T, 4> d_past;     ///< like state
};

/// The results of attn::reference::linear() by matrix products over chunks of steps, for T =
/// float or double. The same bits for any number of threads.
template <class T>
void linear_chunks(const LinearArgs<T>& args);

/// Reads the inputs of `args` and none of its results.
template <class T>
void linear_chunks_backward(const LinearArgs<T>& args, const LinearGrads<T>& grads);

}  // namespace attn::cpu
