/// Scores of pairs on the GPU as a matrix: for those who want to look at weights, which the
/// fused kernels never form.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::gpu {

/// What stands for a pair that does not count, left out by a mask or with a score of -inf:
/// -inf, which softmax reads, or 0, where scores are the weights.
enum class LeftOut { minus_infinity, zero };

/// out = the modified score of each pair of similarities [batch, heads, queries, keys], packed
/// f32. The recipe's similarity and normaliser play no part.
void score_pairs(const Recipe& recipe, const Tensor& similarities, LeftOut left_out,
                 const Tensor& out);
/// d_similarities, and the gradients of the modifiers' tables in `tables`, added in any order.
void score_pairs_backward(const Recipe& recipe, const RecipeGrads& tables,
                          const Tensor& similarities, LeftOut left_out, const Tensor& grad,
                          const Tensor& d_similarities);
/// out = the weights [batch, heads, queries, keys], packed f32, of a softmax of dot products
/// whose log-sum-exp [batch, heads, queries] is known. There are no weight modifiers.
void softmax_weights(const Recipe& recipe, const Tensor& q, const Tensor& k,
                     const Tensor& log_sum_exp, const Tensor& out);
/// out = what the weight modifiers multiply the weight of each pair by; those without tables.
void weight_factors(const Recipe& recipe, const Tensor& out);

/// out [batch, heads, queries, channels] = weights . v already: numbers that are not finite are
/// made again from what has a weight alone. Packed f32.
void pool_again(const Tensor& weights, const Tensor& v, const Tensor& out);

/// out[b, h, i, j] = sum over c of w[h, c] tanh(q[b, h, i, c] + k[b, h, j, c]); packed f32.
void additive_scores(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& out);
/// dw [batch, heads, queries, channels] is to be summed over batch and queries.
void additive_scores_backward(const Tensor& q, const Tensor& k, const Tensor& w,
                              const Tensor& grad, const Tensor& dq, const Tensor& dk,
                              const Tensor& dw);

}  // namespace attn::gpu
