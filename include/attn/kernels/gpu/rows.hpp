/// Attention on the GPU by whole rows: the definition, in plain loops of many threads. Scores
/// lie in memory as a matrix, in pieces of at most a gigabyte. It serves every similarity,
/// modifier, mask and normaliser of the library, doubles, and those who look at weights or send
/// gradients to them; the fused kernels of attention.hpp are many times faster where they serve
/// a recipe (attn/kernels/route.hpp says where).

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/kernels/args.hpp"        // IWYU pragma: export
#include "attn/kernels/gpu/device.hpp"  // IWYU pragma: export

namespace attn::gpu {

/// Bytes of GPU memory that the functions below work in.
template <class T>
std::size_t rows_workspace(const ForwardArgs<T>& args);
template <class T>
std::size_t rows_backward_workspace(const BackwardArgs<T>& args);

/// out = pool(normalise(mask(score(q, k))), v), and what `into` asks for; an `out` without
/// channels costs nothing. T = double computes in double; float, BFloat16 and Float16 in float.
/// Queued on `stream` and not waited for; everything lies in the GPU's memory. What has weight
/// 0 is not read. Packed sequences run one after the other, and their offsets, which lie in the
/// GPU's memory, are waited for. Paging, kept similarities, chosen rows of weights, looking at
/// packed sequences and functors that are not the library's throw Unsupported.
template <class T>
void rows_forward(const ForwardArgs<T>& args, const Recipe& recipe,
                  const Inspection<StatOf<T>>& into, void* workspace, Stream stream = nullptr);

/// Scores after the first `modifiers` score modifiers, masked ones being -inf if `masked`.
template <class T>
void rows_scores(const ForwardArgs<T>& args, const Recipe& recipe, int modifiers, bool masked,
                 const View<StatOf<T>, 4>& out, void* workspace, Stream stream = nullptr);

/// The gradients, those that arrive at the weights included. Gradients of q, k and v are the
/// same bits each time; those of tables are added in any order.
template <class T>
void rows_backward(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads,
                   void* workspace, Stream stream = nullptr);

}  // namespace attn::gpu
