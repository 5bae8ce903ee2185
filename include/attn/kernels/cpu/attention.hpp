/// Attention on the CPU: fused, tiled, and the same bits for any number of threads.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "attn/kernels/args.hpp"  // IWYU pragma: export
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/target.hpp"  // IWYU pragma: export

namespace attn::cpu {

/// How a call runs; never what it computes.
struct Context {
  int threads = 0;                 ///< 0: ThreadPool::default_threads()
  std::optional<Target> target{};  ///< the best of this machine unless forced
};

/// out = pool(normalise(mask(score(q, k))), v) for T = float, BFloat16 or Float16, computed in
/// fp32. No score matrix is kept; scratch lives in the caller's arena.
template <class T>
void forward(const ForwardArgs<T>& args, const Recipe& recipe, const Context& context = {});

/// The gradients; tiles are made again from `stat`, which forward wrote.
template <class T>
void backward(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads = {},
              const Context& context = {});

// Weights and scores on demand, from the same tiles that forward works on.

/// Fills what `wanted` asks for. `args.out` and `args.stat` are not touched and may be empty.
template <class T>
void inspect(const ForwardArgs<T>& args, const Recipe& recipe, const Inspection<float>& wanted,
             const Context& context = {});

/// All weights: [batch, heads, queries, keys].
template <class T>
void weights(const ForwardArgs<T>& args, const Recipe& recipe, const View<float, 4>& out,
             const Context& context = {}) {
  inspect(args, recipe, Inspection<float>{.all = out}, context);
}

/// Scores after the first `modifiers` score modifiers; masked ones are -inf if `masked`.
template <class T>
void scores(const ForwardArgs<T>& args, const Recipe& recipe, int modifiers, bool masked,
            const View<float, 4>& out, const Context& context = {});

}  // namespace attn::cpu
