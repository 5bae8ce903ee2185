/// Other numbers for a tensor that many hold.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// `tensor` becomes `made`, of the same shape, for everybody who holds it. Its gradient is
/// lost.
void replace(const Tensor& tensor, const Tensor& made);

}  // namespace attn::nn
