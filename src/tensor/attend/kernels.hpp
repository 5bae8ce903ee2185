/// The kernels' doors for tensors: views are taken, the element type chosen, nothing recorded.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/route.hpp"
#include "attn/tensor/spec/sequences.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::op {

/// The tensors of a call, with four axes, and how its sequences lie. `out` is like q with the
/// channels of v; stat [batch, heads, queries] and similarities [batch, heads, queries, keys]
/// are there or not.
struct AttendTensors {
  Tensor q;
  Tensor k;
  Tensor v;
  Tensor out;
  Tensor stat;
  Tensor similarities;
  spec::Sequences sequences;
};
void attend_forward(const AttendTensors& x, const Recipe& recipe, Route route);

/// What is defined is filled; shapes as in attn/kernels/args.hpp.
struct InspectInto {
  Tensor weights;
  Tensor column_sums;
  Tensor distance_sums;
  int distance_offset = 0;
  Tensor arg_max;
  Tensor top_keys;
  Tensor top_weights;

  bool any() const;
  bool weights_alone() const;
};
void attend_inspect(const AttendTensors& x, const Recipe& recipe, const InspectInto& to);

/// What arrived at the results, and where the gradients go; what is not defined did not, or is
/// not wanted. d_out is always there.
struct AttendGrads {
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
void attend_backward(const AttendTensors& x, const Recipe& recipe, const AttendGrads& grads,
                     const RecipeGrads& tables);

}  // namespace attn::op

namespace attn::gpu {

/// The same for tensors on the GPU.
void attend_forward(const op::AttendTensors& x, const Recipe& recipe, Route route);
/// What is looked at goes by rows, as attn/kernels/gpu/rows.hpp says, unless the log-sum-exp is
/// known.
void attend_inspect(const op::AttendTensors& x, const Recipe& recipe,
                    const op::InspectInto& to);
void attend_backward(const op::AttendTensors& x, const Recipe& recipe,
                     const op::AttendGrads& grads, const RecipeGrads& tables);

}  // namespace attn::gpu
