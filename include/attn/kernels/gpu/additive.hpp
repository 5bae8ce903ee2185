/// Additive attention on the GPU, forward and backward, without a [queries, keys, channels]
/// tensor: s = sum over c of w_c tanh(q_c + k_c), in fp32. Functors of your own:
/// attn/kernels/gpu/functor/additive.cuh.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/kernels/args.hpp"        // IWYU pragma: export
#include "attn/kernels/gpu/device.hpp"  // IWYU pragma: export
#include "attn/kernels/gpu/limits.hpp"  // IWYU pragma: export

namespace attn::gpu {

/// Bytes of device memory that additive_forward() needs as a workspace; 0 for none.
std::size_t additive_workspace_size(const ForwardArgs<float>& args);

/// out = softmax(mask(score(s))) v for a recipe with the additive similarity, queued on
/// `stream` and not waited for; where args.similarities is given, s is written to it. All
/// pointers are the device's. Other normalisers, weight modifiers, packing and paging throw
/// Unsupported.
void additive_forward(const ForwardArgs<float>& args, const Recipe& recipe, void* workspace,
                      Stream stream);

/// Gradients of q, k, v and grads.weights; scores are made again from stat. Sums over keys are
/// atomic: their last bits differ from run to run. Gradients of the modifiers' tables,
/// gradients that arrive at the weights, and channels that together need more shared memory
/// than there is throw Unsupported.
void additive_backward(const BackwardArgs<float>& args, const Recipe& recipe,
                       const RecipeGrads& grads, Stream stream);

}  // namespace attn::gpu
