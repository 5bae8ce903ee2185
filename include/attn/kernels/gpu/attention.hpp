/// Fused attention on the GPU for recipes chosen at run time. Common recipes run on kernels of
/// their own (src/kernels/common_recipes.hpp lists them); all others of dot products and the
/// library's functors on a general one, which asks for each score what to do and is some 44
/// times slower. attn/kernels/route.hpp says which; whatever is not served throws Unsupported,
/// and attn/kernels/gpu/rows.hpp serves it. Functors of your own:
/// attn/kernels/gpu/functor/forward.cuh, backward.cuh.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/kernels/args.hpp"        // IWYU pragma: export
#include "attn/kernels/gpu/device.hpp"  // IWYU pragma: export

namespace attn::gpu {

/// out = pool(normalise(mask(score(q, k))), v) for T = float, BFloat16 or Float16, queued on
/// `stream` and not waited for. All data, the tables and the arrays that masks point to lie in
/// the GPU's memory. What a mask hides may be NaN, but makes the rows near it slow. Not served:
/// packing, paging, similarities, whole-row normalisers.
template <class T>
void forward(const ForwardArgs<T>& args, const Recipe& recipe, Stream stream = nullptr);

/// Bytes of GPU memory that backward() works in.
template <class T>
std::size_t backward_workspace(const BackwardArgs<T>& args);

/// The gradients, queued on `stream`. Not served: packing, gradients of the weights, repeatable
/// gradients of tables.
template <class T>
void backward(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads,
              void* workspace, Stream stream = nullptr,
              Determinism determinism = Determinism::fast);

// Additive attention, forward and backward, without a [queries, keys, channels] tensor:
// s = sum over c of w_c tanh(q_c + k_c), in fp32. Functors of your own:
// attn/kernels/gpu/functor/additive.cuh.

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
