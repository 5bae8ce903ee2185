/// The definition of attention: plain loops in double, one row of scores at a time. Everything
/// faster is tested against this.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"  // IWYU pragma: export
#include "attn/kernels/recipe.hpp"

namespace attn::reference {

/// out = pool(normalise(mask(score(q, k))), v) for T = double, float, BFloat16 or Float16.
template <class T>
void forward(const ForwardArgs<T>& args, const Recipe& recipe);

/// The gradients by the chain rule, written out step by step.
template <class T>
void backward(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads = {});

/// Scores after the first `modifiers` score modifiers: [batch, heads, queries, keys]. Masked
/// ones are -inf if `masked`.
template <class T>
void scores(const ForwardArgs<T>& args, const Recipe& recipe, int modifiers, bool masked,
            const View<StatOf<T>, 4>& out);

/// The weights that pool the values, all of them: [batch, heads, queries, keys].
template <class T>
void weights(const ForwardArgs<T>& args, const Recipe& recipe, const View<StatOf<T>, 4>& out);

/// What is asked of the weights, in double; all of them are in memory meanwhile.
void inspect(const ForwardArgs<double>& args, const Recipe& recipe,
             const Inspection<double>& wanted);

}  // namespace attn::reference
