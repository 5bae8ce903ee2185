/// Weights and scores on demand, from the same tiles that forward works on.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"
#include "attn/kernels/cpu/attention.hpp"  // IWYU pragma: export
#include "attn/kernels/inspect.hpp"        // IWYU pragma: export
#include "attn/kernels/recipe.hpp"

namespace attn::cpu {

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
