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

}  // namespace attn::gpu
