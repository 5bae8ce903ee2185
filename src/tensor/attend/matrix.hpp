/// Attention on the GPU as a matrix of scores made by products (Route::gpu_matrix): softmax
/// whose weights somebody wants to look at or to copy by.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <vector>

#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/recipe.hpp"
#include "tensor/attend/sizes.hpp"

namespace attn::op {

/// The results, on the tape through the ops they are made of. `tables` are those of the recipe.
Attended attend_by_matrix(const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttendSizes& sizes,
                          const std::shared_ptr<const BoundRecipe>& recipe,
                          const std::vector<Tensor>& tables, const Want& want);

}  // namespace attn::op
