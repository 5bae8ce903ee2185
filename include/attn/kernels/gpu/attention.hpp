/// Attention on the GPU for recipes chosen at run time. Common recipes run on kernels of their
/// own (src/kernels/gpu/instances.cuh lists them); all others of dot products and the library's
/// functors on a general one, which asks for each score what to do and is some twenty times
/// slower (H200, bf16, causal, 128 channels: 14 against 305 TFLOP/s). Whatever is not served
/// throws Unsupported; attn/kernels/gpu/rows.hpp serves it. Functors of your own:
/// attn/kernels/gpu/forward.cuh, backward.cuh.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "attn/kernels/args.hpp"             // IWYU pragma: export
#include "attn/kernels/gpu/determinism.hpp"  // IWYU pragma: export
#include "attn/kernels/gpu/device.hpp"       // IWYU pragma: export

namespace attn::gpu {

/// The most channels of a key or value.
inline constexpr int kMaxChannels = 256;

/// Whether forward() and backward() take such a recipe: dot products, a normaliser that
/// streams, weight modifiers that are factors. Not asked: whether the build's list has the type
/// and head size.
inline bool serves(const Recipe& recipe, std::int64_t channels, std::int64_t value_channels) {
  return recipe.similarity == Similarity::dot && recipe.normaliser.streams &&
         std::max(channels, value_channels) <= kMaxChannels &&
         std::all_of(recipe.factors.begin(), recipe.factors.end(),
                     [](const AnyWeight& factor) { return factor.is_factor; });
}

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
