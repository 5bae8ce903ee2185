/// Attention on the GPU as a matrix of scores made by products: softmax whose weights somebody
/// wants to look at or to copy by. It is faster than whole rows in plain loops, which serve
/// everything else that the fused kernels lack.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <vector>

#include "attn/kernels/recipe.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend_recipe.hpp"
#include "tensor/attend_sizes.hpp"

namespace attn::op {

/// Whether a call on the GPU goes this way: f32 and 16-bit types, softmax, a similarity that
/// is a product or a sum, and weights that are looked at or no fused kernel.
bool is_by_matrix(const Recipe& recipe, const Want& want, const AttendSizes& sizes);

/// The results, on the tape through the ops they are made of. `tables` are those of the recipe.
Attended attend_by_matrix(const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttendSizes& sizes,
                          const std::shared_ptr<const BoundRecipe>& recipe,
                          const std::vector<Tensor>& tables, const Want& want);

}  // namespace attn::op
