/// The kernels' doors for tensors: views are taken, the element type chosen, nothing recorded.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::op {

/// q, k and v with four axes.
struct AttendInputs {
  Tensor q;
  Tensor k;
  Tensor v;
};

/// out like q with the channels of v; stat [batch, heads, queries] and similarities [batch,
/// heads, queries, keys] or not defined.
struct AttendOutputs {
  Tensor out;
  Tensor stat;
  Tensor similarities;
};
void attend_forward(const AttendInputs& in, const Recipe& recipe, const AttendOutputs& to);

/// What is defined is filled; shapes as in attn/kernels/inspect.hpp.
struct InspectInto {
  Tensor weights;
  Tensor column_sums;
  Tensor distance_sums;
  int distance_offset = 0;
  Tensor arg_max;
  Tensor top_keys;
  Tensor top_weights;

  bool any() const;
};
void attend_inspect(const AttendInputs& in, const Recipe& recipe, const InspectInto& to);

/// What arrived at the results, and where the gradients go; what is not defined did not, or is
/// not wanted. d_out is always there.
struct AttendGrads {
  Tensor out;
  Tensor stat;
  Tensor similarities;
  Tensor d_out;
  Tensor d_stat;
  Tensor d_weights;
  Tensor d_column_sums;
  Tensor d_distance_sums;
  int distance_offset = 0;
  Tensor dq;
  Tensor dk;
  Tensor dv;
};
void attend_backward(const AttendInputs& in, const Recipe& recipe, const AttendGrads& grads,
                     const RecipeGrads& tables);

}  // namespace attn::op
